// Objects that a program keeps all through its work, because it goes on to need them.

private struct Dice {
  var state: UInt64

  mutating func roll(_ bound: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int(state >> 33) % bound
  }
}

private final class LibraryReader {
  let card: Int
  private(set) var borrowed = 0
  private(set) var fines = 0

  init(card: Int) { self.card = card }

  func borrow() { borrowed += 1 }
  func bringBack(daysLate: Int) { fines += max(0, daysLate) }
}

private final class LibraryLoan {
  let reader: LibraryReader
  let due: Int

  init(reader: LibraryReader, due: Int) { (self.reader, self.due) = (reader, due) }
}

/// Readers join all year. Each loan goes to one of them, old or new.
enum LibraryReaders: CleanProgram {
  nonisolated(unsafe) private static var readers: [Int: LibraryReader] = [:]
  nonisolated(unsafe) private static var loans: [Int: LibraryLoan] = [:]

  static func correct() {
    var dice = Dice(state: 41)
    for day in 0..<200 {
      for _ in 0..<3 { join() }
      for _ in 0..<25 { lend(dice.roll(900), to: dice.roll(readers.count), day) }
      for _ in 0..<40 { takeBack(dice.roll(900), day) }
    }
    note(loans.count)
  }

  @inline(never) private static func join() { readers[readers.count] = LibraryReader(card: readers.count) }

  @inline(never) private static func lend(_ book: Int, to card: Int, _ day: Int) {
    guard loans[book] == nil, let reader = readers[card] else { return }
    reader.borrow()
    loans[book] = LibraryLoan(reader: reader, due: day + 14)
  }

  @inline(never) private static func takeBack(_ book: Int, _ day: Int) {
    guard let loan = loans.removeValue(forKey: book) else { return }
    loan.reader.bringBack(daysLate: day - loan.due)
  }
}

private final class PondCell {
  var food: Int
  private(set) var age = 0
  var isGone: Bool { food <= 0 || age > 12 }

  init(food: Int) { self.food = food }

  func eat(_ amount: Int) {
    age += 1
    food += amount
  }
}

/// Cells divide more often than they die. Each step works with all of them.
enum PondCells: CleanProgram {
  nonisolated(unsafe) private static var cells: [PondCell] = []

  static func correct() {
    var dice = Dice(state: 2024)
    for _ in 0..<60 { seed() }
    for _ in 0..<32 { step(&dice) }
    note(cells.count)
  }

  @inline(never) private static func seed() { cells.append(PondCell(food: 6)) }

  @inline(never) private static func step(_ dice: inout Dice) {
    var fresh: [PondCell] = []
    for cell in cells {
      cell.eat(dice.roll(5) - 1)
      guard cell.food > 9, dice.roll(3) > 0 else { continue }
      cell.food /= 2
      fresh.append(PondCell(food: cell.food))
    }
    cells.removeAll(where: \.isGone)
    cells.append(contentsOf: fresh)
  }
}

private final class LedgerEntry {
  let number: Int
  let month: Int

  init(number: Int, month: Int) { (self.number, self.month) = (number, month) }
}

private struct LedgerPosting {
  let cents: Int
  unowned let entry: LedgerEntry
}

private final class LedgerAccount {
  private(set) var postings: [LedgerPosting] = []
  var balance: Int { postings.reduce(0) { $0 + $1.cents } }

  func post(_ posting: LedgerPosting) { postings.append(posting) }
}

/// The books of a year. The journal has each entry, and postings refer to their entry without owning it.
enum LedgerBooks: CleanProgram {
  nonisolated(unsafe) private static var journal: [LedgerEntry] = []
  nonisolated(unsafe) private static var accounts: [LedgerAccount] = []

  static func correct() {
    for _ in 0..<60 { open() }
    for day in 0..<360 { for turn in 0..<3 { post(day / 30, from: (day + turn) % 60, to: (day * 7 + turn) % 60) } }
    note(accounts.reduce(0) { $0 + $1.balance })
    note(accounts[7].postings.count { $0.entry.month == 6 })
  }

  @inline(never) private static func open() { accounts.append(LedgerAccount()) }

  @inline(never) private static func post(_ month: Int, from: Int, to: Int) {
    let entry = LedgerEntry(number: journal.count, month: month)
    journal.append(entry)
    accounts[from].post(LedgerPosting(cents: -1250, entry: entry))
    accounts[to].post(LedgerPosting(cents: 1250, entry: entry))
  }
}
