// Enumerations in a generic type. Their payloads are references for any bound type, spare bits distinguish their cases, and collection elements have a reference's size.

private final class Cover<Key> {
  let title: String
  var onShow: (() -> Void)?
  var shown = 0

  init(title: String) { self.title = title }
}

private final class Ticket<Key> {
  let number: Int
  init(number: Int) { self.number = number }
}

private final class Shelf<Key: Hashable> {
  enum Slot { case waiting(Ticket<Key>), loaded(Cover<Key>), broken(Ticket<Key>) }
  struct Row {
    var slot: Slot
    var copies: Int16 = 1
    var label: Ticket<Key>
  }

  private var slots: [Slot] = []
  private var optional: [Slot?] = []
  private var byKey: [Key: Slot] = [:]
  private var rows: [Row] = []
  private var latest: Slot?
  private var latestRow: Row?

  /// A slot of its own for each place.
  private func slot(_ number: Int) -> Slot {
    switch number % 3 {
    case 0: .waiting(Ticket(number: number))
    case 1: .loaded(Cover(title: "cover \(number)"))
    default: .broken(Ticket(number: number))
    }
  }

  func fill(_ keys: [Key]) {
    for (number, key) in keys.enumerated() {
      slots.append(slot(number))
      optional.append(number % 4 == 3 ? nil : slot(number))
      byKey[key] = slot(number)
      rows.append(Row(slot: slot(number), label: Ticket(number: number)))
    }
    latest = slot(1)
    latestRow = Row(slot: slot(2), label: Ticket(number: 2))
  }

  /// Takes the covers off the shelf.
  func clear(_ handle: (Cover<Key>) -> Void) {
    for slot in slots { if case .loaded(let cover) = slot { handle(cover) } }
    (slots, optional, byKey, rows, latest, latestRow) = ([], [], [:], [], nil, nil)
  }

  var count: Int { slots.count + optional.count + byKey.count + rows.count }
}

enum LoadingShelf: FaultyProgram {
  nonisolated(unsafe) private static var shelf = Shelf<String>()

  static func faulty() {
    let old = Shelf<Int>()
    old.fill(Array(0..<9))
    old.clear { cover in cover.onShow = { cover.shown += 1 } }
    correct()
  }

  static func correct() {
    shelf.fill((0..<9).map { "book \($0)" })
    note(shelf.count)
  }
}
