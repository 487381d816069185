// The choice of the heap image that a report is about.

import LeakGates
import TraceReading
import TraceRecording

/// The choice of one of a trace's heap images.
package enum SnapshotChoice {
  /// The one with a number; otherwise the last whole one, or the last begun.
  package static func choose(_ reader: TraceReader, number: Int?) -> TraceSnapshot? {
    if let number { return reader.snapshots.first { Int($0.number) == number } }
    return reader.snapshots.last { $0.isWhole } ?? reader.snapshots.last
  }

  /// Has an image judged. Without a whole one, the report says why leaks were not checked, and what to do next. A report
  /// by an earlier image than the last says so.
  package static func report(
    _ reader: TraceReader, _ chosen: TraceSnapshot?, number: Int?, path: String, judge: (TraceSnapshot) -> LeakReport
  ) -> LeakReport {
    guard let chosen else { return LeakReport(unavailable: explanation(reader, number: number, path: path)) }
    var report = judge(chosen)
    // No findings by half an analysis are no clean result.
    if let obstacle = report.obstacle, !chosen.isWhole || report.programFindings.isEmpty {
      report.unavailable = obstacle
    }
    if number == nil, let remark = remark(reader, chosen) { report.remarks.insert(remark, at: 0) }
    return report
  }

  /// The reason why no image can be judged, and the next step.
  package static func explanation(_ reader: TraceReader, number: Int?, path: String) -> String {
    let next = "'leaktrace snapshot PID' takes an image of a running program"
    if reader.snapshots.isEmpty, reader.closing?.reason == .exec {
      let end = "\(path) ends where the process became another program, which"
      if reader.definitions.process.isAttached { return "\(end) is not recorded." }
      let next = RecordedTrace(path: path)?.successor().map { ": \($0.path)" }
      return "\(end) has a trace of its own\(next ?? "")."
    }
    if reader.snapshots.isEmpty, let failure = reader.failedSnapshots.last {
      return "\(path) has no heap image: \(failure.explanation). \(next)."
    }
    if reader.snapshots.isEmpty {
      return
        "\(path) has no heap image: the program was killed, still runs, or was recorded with --no-snapshots. \(next)."
    }
    let numbers = reader.snapshots.map { String($0.number) }.joined(separator: ", ")
    return "\(path) has no heap image \(number ?? 0); it has \(numbers)."
  }

  /// The newest image failed, and an earlier one was judged.
  private static func remark(_ reader: TraceReader, _ chosen: TraceSnapshot) -> String? {
    let failed =
      reader.failedSnapshots.map { ($0.number, $0.explanation) }
      + reader.snapshots.compactMap { snapshot in snapshot.problem.map { (snapshot.number, $0) } }
    guard let last = failed.max(by: { $0.0 < $1.0 }), last.0 > chosen.number else { return nil }
    var text = "heap image \(last.0) is missing: \(last.1). Leaks are those of image \(chosen.number)"
    if let closing = reader.closing, let end = reader.clock.seconds(at: closing.time),
      let begin = reader.clock.seconds(at: chosen.time)
    {
      text += ", taken \(Decimal.duration(max(0, end - begin))) before the recording's end"
    }
    return text
  }
}
