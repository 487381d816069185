// The choice of the heap image that a report is about.

import TraceReading

/// The choice of one of a trace's heap images.
package enum SnapshotChoice {
  /// The one with a number; otherwise the last whole one, or the last begun.
  package static func choose(_ reader: TraceReader, number: Int?) -> TraceSnapshot? {
    if let number { return reader.snapshots.first { Int($0.number) == number } }
    return reader.snapshots.last { $0.isWhole } ?? reader.snapshots.last
  }

  package static func explanation(_ reader: TraceReader, number: Int?, path: String) -> String {
    if reader.snapshots.isEmpty, reader.closing?.reason == .exec {
      return "\(path) ends where the process became another program, which has a trace of its own."
    }
    if reader.snapshots.isEmpty, let failure = reader.failedSnapshots.last {
      return "\(path) has no heap image: \(failure.explanation)."
    }
    if reader.snapshots.isEmpty {
      return "\(path) has no heap image: the program was killed, still runs, or was recorded with --no-snapshots. "
        + "'leaktrace snapshot PID' takes one of a running program."
    }
    let numbers = reader.snapshots.map { String($0.number) }.joined(separator: ", ")
    return "\(path) has no heap image \(number ?? 0); it has \(numbers)."
  }
}
