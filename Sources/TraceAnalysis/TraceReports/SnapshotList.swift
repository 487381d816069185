// The heap images of a trace, one per line.

import TextWriting
import TraceReading
import Wording

/// The output of `leaktrace snapshots`. Formats only; makes no decisions.
package struct SnapshotList {
  /// The version of the JSON. Raised if a field changes its meaning or is removed, but not if a field is added.
  package static let schemaVersion: UInt64 = 1

  private let path: String
  private let reader: TraceReader
  /// - Parameter path: The trace's name in the list.
  package init(_ reader: TraceReader, path: String) { (self.reader, self.path) = (reader, path) }

  /// Returns the list as a table. `whenNone`: the text to return if there are no heap images.
  package func text(style: TextStyle, whenNone: String) -> String {
    var lines = TextLines(style: style)
    guard !reader.snapshots.isEmpty || !reader.failedSnapshots.isEmpty else {
      lines.line(PlainText.escaped(whenNone))
      return lines.text
    }
    lines.line(
      "\(PlainText.escaped(path)): \(Decimal.counted(UInt64(reader.snapshots.count), "heap image"))", emphasized: 1)
    lines.blank()
    var table = TextTable([
      ("number", .right), ("time", .right), ("reason", .left), ("memory", .right), ("in trace", .right),
      ("pause", .right), ("label", .left),
    ])
    for snapshot in reader.snapshots {
      table.add([
        String(snapshot.number), seconds(snapshot).map(Decimal.duration) ?? "?", snapshot.reason.words,
        snapshot.end.map { Decimal.bytes($0.capturedBytes) } ?? "?",
        Decimal.bytes(reader.storedSize(of: snapshot).rawValue),
        snapshot.end.map { Decimal.duration(Double($0.pauseNanoseconds) / 1e9) } ?? "?", label(snapshot),
      ])
    }
    for failure in reader.failedSnapshots {
      table.add([String(failure.number), "?", "?", "", "", "", "not taken: \(failure.explanation)"])
    }
    table.write(to: &lines, indent: 2)
    for snapshot in reader.snapshots {
      guard let pages = snapshot.end?.unreadablePages, pages > 0 else { continue }
      lines.line(
        "Image \(snapshot.number) lacks \(Decimal.counted(UInt64(pages), "page")) that could not be read, such as guard pages of stacks."
      )
    }
    return lines.text
  }

  /// Returns the list as JSON, with all fields of the heap images.
  package func json() -> String {
    JSONValue.object([
      ("schema", .string("leaktrace.snapshots")),
      ("schemaVersion", .number(Self.schemaVersion)),
      ("trace", .string(path)),
      ("program", .string(reader.definitions.process.executable)),
      ("processID", .number(UInt64(reader.header.processID))),
      (
        "snapshots",
        .array(
          reader.snapshots.map { snapshot in
            .object(
              FindingJSON.fields(snapshot) + [
                ("seconds", .optional(seconds(snapshot))),
                ("storedBytes", .number(reader.storedSize(of: snapshot).rawValue)),
                ("problem", .optional(problem(snapshot))),
              ])
          })
      ),
      (
        "failed",
        .array(
          reader.failedSnapshots.map {
            .object([("number", .number(UInt64($0.number))), ("problem", .string($0.explanation))])
          })
      ),
    ]).text + "\n"
  }

  private func seconds(_ snapshot: TraceSnapshot) -> Double? {
    reader.clock.seconds(at: snapshot.time).map { max(0, $0) }
  }

  private func label(_ snapshot: TraceSnapshot) -> String {
    let label = snapshot.label.isEmpty ? "" : "\"\(PlainText.escaped(snapshot.label))\""
    let state = [problem(snapshot), snapshot.isFrozen ? nil : "threads were not stopped"].compactMap { $0 }.joined(
      separator: ", ")
    return [label, state].filter { !$0.isEmpty }.joined(separator: "  ")
  }

  private func problem(_ snapshot: TraceSnapshot) -> String? { snapshot.problem.map { "incomplete: \($0)" } }
}
