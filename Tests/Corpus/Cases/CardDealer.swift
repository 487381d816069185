// A reference that is not counted dangles in a class with stored properties of no size: a random number generator, a type, an empty structure. Its other fields are known all the same.

private struct Rules {}

private final class Table {
  var seats = 6
  var stake = 25
}

private final class Dealer {
  private var generator = SystemRandomNumberGenerator()
  private let rules = Rules()
  unowned(unsafe) var table: Table
  private let game: Table.Type = Table.self
  weak var relief: Dealer?

  init(table: Table) { self.table = table }

  @inline(never) func deal() { note(Int.random(in: 0..<table.seats, using: &generator) + (relief == nil ? 0 : 1)) }
}

enum CardDealer: FaultyProgram {
  nonisolated(unsafe) private static var dealers: [Dealer] = []
  nonisolated(unsafe) private static var tables: [Table] = []

  static func faulty() { play(keeping: false) }
  static func correct() { play(keeping: true) }

  private static func play(keeping: Bool) {
    dealers.reserveCapacity(3)
    tables.reserveCapacity(3)
    for _ in 0..<3 { open(keeping: keeping) }
    note(dealers.count + tables.count)
  }

  @inline(never) private static func open(keeping: Bool) {
    let table = Table()
    let dealer = Dealer(table: table)
    dealer.deal()
    dealer.relief = dealers.last
    dealers.append(dealer)
    if keeping { tables.append(table) }
    use(table)
  }
}
