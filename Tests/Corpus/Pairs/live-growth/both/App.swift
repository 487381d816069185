// Tables that a program keeps for good, each of as many entries as the argument says.

final class Table {
  let entries: [Int]
  init(_ count: Int) { entries = Array(repeating: 1, count: count) }
}

nonisolated(unsafe) var tables: [Table] = []

@main enum App {
  static func main() {
    tables.reserveCapacity(3)
    for _ in 0..<3 { tables.append(Table(argument(1, or: 100))) }
    note(tables.count)
  }
}
