// The stacks of an inspected process's threads, as text.

import AllocationReports
import TextWriting
import TraceReading

/// Renders threads. Threads with the same stack share a row, because a pool has many. Formats only; makes no decisions.
struct ThreadText {
  let style: TextStyle

  /// Maximum number of rows, unless the style asks for full stacks.
  private static let rowLimit = 24
  /// Maximum number of thread IDs in one row.
  private static let numberLimit = 8

  func write(_ threads: [ReportThread], to lines: inout TextLines) {
    guard !threads.isEmpty else { return }
    lines.line("Threads: \(Decimal.grouped(UInt64(threads.count)))", emphasized: 0)
    lines.blank()
    let rows = Self.rows(threads)
    let shown = style.stacks == .full ? rows.count : min(rows.count, Self.rowLimit)
    for row in rows.prefix(shown) {
      lines.pair(
        title(row), Self.activity(row[0].stack.activity), indent: 0, continuation: 4, emphasized: true)
      StackText(style: style).write(row[0], to: &lines, indent: 4)
    }
    let rest = rows.dropFirst(shown).reduce(0) { $0 + $1.count }
    if rest > 0 {
      lines.line(
        "\(Decimal.counted(UInt64(rest), "more thread")); show all with --full-stacks")
    }
    lines.blank()
  }

  /// The key of a row. Threads with equal keys share a row.
  private struct Place: Hashable {
    var isMain: Bool
    var name: Substring
    var isComputing: Bool
    var end: ThreadStack.End
    var addresses: [RuntimeAddress]
  }

  private static func rows(_ threads: [ReportThread]) -> [[ReportThread]] {
    var rows: [[ReportThread]] = []
    var places: [Place: Int] = [:]
    for thread in threads {
      let place = Place(
        isMain: thread.isMain, name: pool(thread.name), isComputing: thread.stack.activity == .computing,
        end: thread.stack.end, addresses: thread.frames.map(\.address))
      if let row = places[place] {
        rows[row].append(thread)
      } else {
        places[place] = rows.count
        rows.append([thread])
      }
    }
    return rows
  }

  /// Returns a thread's name without the number that distinguishes it from other threads of its pool.
  private static func pool(_ name: String) -> Substring {
    var pool = name[...]
    while let last = pool.last, last.isNumber || last == "#" || last == "-" || last == "_" { pool.removeLast() }
    return pool
  }

  private func title(_ row: [ReportThread]) -> String {
    guard row.count > 1 else { return Self.title(row[0]) }
    let numbers = row.prefix(Self.numberLimit).map { "\($0.stack.osThread)" }.joined(separator: ", ")
    let more = row.count > Self.numberLimit ? ", …" : ""
    let name = row[0].name.isEmpty ? "" : " \"\(PlainText.escaped(row[0].name))\"\(row.count > 1 ? " and alike" : "")"
    return "\(row.count) threads\(name) (\(numbers)\(more))"
  }

  private static func title(_ thread: ReportThread) -> String {
    var title = thread.isMain ? "main thread" : "thread \(thread.stack.osThread)"
    if !thread.name.isEmpty { title += " \"\(PlainText.escaped(thread.name))\"" }
    if thread.stack.ownNumber != 0 { title += " (\(thread.stack.ownNumber) in its container)" }
    return title
  }

  private static func activity(_ activity: ThreadStack.Activity) -> String? {
    switch activity {
    case .computing: "computing"
    case .inCall: "in a system call"
    case .unknown: nil
    }
  }
}
