// The list of processes that are being recorded, with one process on each line.

import TextWriting
import TraceReading

/// The output of `leaktrace ps`, as text or JSON.
package struct ProcessList {
  /// Increased when a field of the JSON changes its meaning or is removed, but not when a field is added.
  package static let schemaVersion: UInt64 = 1

  private let found: RecordingProcess.Found
  /// Formats a time, in nanoseconds since 1970, for people.
  private let time: (UInt64) -> String

  /// - Parameter time: Formats a time, in nanoseconds since 1970, in the reader's time zone.
  package init(_ found: RecordingProcess.Found, time: @escaping (UInt64) -> String) {
    (self.found, self.time) = (found, time)
  }

  package func text(style: TextStyle) -> String {
    var lines = TextLines(style: style)
    if found.processes.isEmpty {
      lines.line("no process is being recorded")
    } else {
      var table = TextTable([
        ("PID", .right), ("program", .left), ("since", .left), ("events", .right), ("trace size", .right),
        ("trace", .left),
      ])
      for process in found.processes {
        table.add([
          String(process.processID), process.program.map { PlainText.escaped(fileName(ofPath: $0)) } ?? "?",
          process.startRealtime.map(time) ?? "?",
          process.eventCount.map { Decimal.grouped($0) } ?? "?",
          process.traceSize.map { Decimal.bytes($0.rawValue) } ?? "?",
          PlainText.escaped(process.tracePath) + (process.state == .paused ? "  (paused)" : ""),
        ])
      }
      table.write(to: &lines, indent: 0)
    }
    for remark in remarks { lines.line("note: \(remark)") }
    return lines.text
  }

  package func json() -> String {
    JSONValue.object([
      ("schema", .string("leaktrace.processes")),
      ("schemaVersion", .number(Self.schemaVersion)),
      (
        "processes",
        .array(
          found.processes.map { process in
            .object([
              ("processID", .integer(Int64(process.processID))),
              ("program", .optional(process.program)),
              ("startSeconds", .optional(process.startRealtime.map { Double($0) / 1e9 })),
              ("events", .optional(process.eventCount)),
              ("traceBytes", .optional(process.traceSize?.rawValue)),
              ("isPaused", .bool(process.state == .paused)),
              ("trace", .string(process.tracePath)),
            ])
          })
      ),
      ("hiddenProcesses", .number(UInt64(max(0, found.hidden)))),
      ("isListPartial", .bool(found.isListPartial)),
      ("remarks", .array(remarks.map { .string($0) })),
    ]).text + "\n"
  }

  private var remarks: [String] {
    var remarks: [String] = []
    let hint = found.isPrivileged ? "" : ". Run as root to see all"
    if found.hidden > 0 {
      remarks.append(
        found.hidden == 1
          ? "1 process could not be looked at: it belongs to another user, or protects its memory\(hint)"
          : "\(Decimal.grouped(UInt64(found.hidden))) processes could not be looked at: they belong to other users, or protect their memory\(hint)"
      )
    }
    if found.isListPartial { remarks.append("this system hides other users' processes\(hint)") }
    return remarks
  }
}
