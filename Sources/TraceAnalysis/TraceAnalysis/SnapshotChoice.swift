// The choice of the heap image that a report is about.

import LeakGates
import TextWriting
import TraceReading
import TraceRecording

/// Chooses one of a trace's heap images.
package enum SnapshotChoice {
  /// Returns the image with `number`. Without a number, returns the last whole image, or else the image that was begun
  /// last. If the last whole image is the one at exit, an image that was requested right before the exit is preferred,
  /// because a server releases its state at its end. Then takes one pass over the events.
  package static func choose(_ reader: TraceReader, number: Int?) -> TraceSnapshot? {
    if let number { return reader.snapshots.first { Int($0.number) == number } }
    guard let last = reader.snapshots.last(where: \.isWhole) else { return reader.snapshots.last }
    return requested(rightBefore: last, reader) ?? last
  }

  /// If at most this share of all events follows a requested image, the program did little else than end after it. If
  /// the signal that ended the program requested the image, the same share of the allocations also suffices, because
  /// releasing state takes many events and few allocations.
  private static let maxRest = 0.1

  private static func requested(rightBefore last: TraceSnapshot, _ reader: TraceReader) -> TraceSnapshot? {
    guard last.reason == .exit,
      let requested = reader.snapshots.last(where: { $0.isWhole && $0.number < last.number }),
      requested.reason == .request, requested.isListed == last.isListed, reader.replays(blocks: 0) > 1
    else { return nil }
    var (events, allocations) = (Rest(), Rest())
    try? reader.forEachEvent { event in
      let isAfter = event.time > requested.time
      events.count(isAfter: isAfter)
      if event.operation.isAllocation { allocations.count(isAfter: isAfter) }
    }
    return events.share <= maxRest || requested.isOfEndingSignal && allocations.share <= maxRest ? requested : nil
  }

  /// How much happened before and after a requested image.
  private struct Rest {
    private var before = 0.0, after = 0.0

    mutating func count(isAfter: Bool) { if isAfter { after += 1 } else { before += 1 } }

    var share: Double { after == 0 ? 0 : after / (before + after) }
  }

  /// Judges an image. Without a whole image, the report has the reason why leaks were not checked, and the next step.
  /// If the judged image is not the last one, the report has a remark about that.
  package static func report(
    _ reader: TraceReader, _ chosen: TraceSnapshot?, number: Int?, path: String, judge: (TraceSnapshot) -> LeakReport
  ) -> LeakReport {
    guard let chosen else { return LeakReport(unavailable: explanation(reader, number: number, path: path)) }
    if reader.stopTime != nil {
      return LeakReport(unavailable: "the trace was not read to its end")
    }
    var report = judge(chosen)
    // An incomplete analysis without findings does not show that there are no leaks.
    if let obstacle = report.obstacle, !chosen.isWhole || report.programFindings.isEmpty {
      report.unavailable = obstacle
    }
    if number == nil, let remark = remark(reader, chosen) { report.remarks.insert(remark, at: 0) }
    return report
  }

  /// Returns why no image can be judged, and the next step.
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

  /// Returns a remark if an earlier image was judged because the newest image failed, or shows only the program's end.
  private static func remark(_ reader: TraceReader, _ chosen: TraceSnapshot) -> String? {
    if let last = reader.snapshots.last(where: \.isWhole), last.number > chosen.number, last.reason == .exit {
      return
        "leaks are judged by heap image \(chosen.number)\(age(of: chosen, at: last.time, "the exit", reader)): the program did "
        + "little else than end after it. --snapshot \(last.number) judges the image at the exit"
    }
    let failed =
      reader.failedSnapshots.map { ($0.number, $0.explanation) }
      + reader.snapshots.compactMap { snapshot in snapshot.problem.map { (snapshot.number, $0) } }
    guard let last = failed.max(by: { $0.0 < $1.0 }), last.0 > chosen.number else { return nil }
    let taken = reader.closing.map { age(of: chosen, at: $0.time, "the recording's end", reader) } ?? ""
    return "heap image \(last.0) is missing: \(last.1). Leaks are judged by image \(chosen.number)\(taken)"
  }

  /// Returns the age of an image, such as `, taken 2.1 s before the exit`; empty if the clock's rate is unknown. `end`:
  /// the time of the event in ticks.
  private static func age(of snapshot: TraceSnapshot, at end: UInt64, _ event: String, _ reader: TraceReader) -> String
  {
    guard let end = reader.clock.seconds(at: end), let begin = reader.clock.seconds(at: snapshot.time) else {
      return ""
    }
    return ", taken \(Decimal.duration(max(0, end - begin))) before \(event)"
  }
}
