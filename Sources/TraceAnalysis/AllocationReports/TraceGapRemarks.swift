// Sentences about data that a trace lacks.

import TextWriting
import TraceReading

extension AllocationAnalysis {
  /// Describes the end of a process that did not close its trace. `waitStatus`: −1 if unknown. A process with an exit
  /// status was not killed. The C library itself ends some processes, such as the parent in `daemon`, without a call
  /// that the recorder could hook.
  private static func ending(_ waitStatus: Int32) -> String {
    if waitStatus == -1 { return "the process ended without closing its trace, or was killed" }
    return switch ProcessOutcome(waitStatus: waitStatus) {
    case .exited(let status): "the process ended with status \(status)"
    case .killed(let signal, _): "the process was killed by signal \(signal)"
    case .stopped, .continued: "the process ended"
    }
  }

  /// Sentences about the gaps of the trace.
  package var gapRemarks: [String] {
    var remarks: [String] = []
    if header.isInspection {
      remarks.append(
        "the process was inspected, not recorded: when and where its blocks were allocated is not known. \(Self.reachOfImages)"
      )
    }
    if let limit = definitions.limit {
      remarks.append(remark(limit))
    } else if header.isLight {
      remarks.append(
        "a light recording: the report shows the blocks of the heap image, \(stacks(period: header.samplePeriod)). \(Self.reachOfImages)"
      )
    }
    switch completeness {
    case .whole: break
    case .recovered: remarks.append("\(Self.ending(closing?.waitStatus ?? -1)); leaktrace closed its trace")
    case .open:
      remarks.append("the trace is still open: the process is running, or ended without closing it")
    }
    if closing?.reason == .stopped, !header.isInspection, definitions.limit == nil {
      remarks.append("recording ended before the process did")
    }
    if let children = closing?.untracedChildren, children > 0 {
      remarks.append("\(children) child process\(children == 1 ? " was" : "es were") not traced")
    }
    if header.referenceCounting == .off, !header.lacksHistory {
      remarks.append("retains and releases were not recorded")
    }
    let pauses = definitions.pauses.lazy.filter(\.begins).count
    if pauses > 0 || header.startedPaused {
      remarks.append(
        header.isLight
          ? "recording was paused at times: no stacks were taken then"
          : "recording was paused at times: blocks allocated then are unknown, and blocks freed then look live")
    }
    for reason in DropCounts.Reason.allCases where drops[reason] > 0 {
      remarks.append("\(reason.losesEvents ? "missing: " : "")\(reason.explanation): \(Decimal.grouped(drops[reason]))")
    }
    if drops.unknown > 0 {
      remarks.append("dropped for reasons unknown to this version: \(Decimal.grouped(drops.unknown))")
    }
    return remarks
  }

  /// The limit of findings about reachable objects, for a trace with only one heap image.
  private static let reachOfImages =
    "Objects that outlive their scope are found only if no code can end the task, timer or observer that keeps them"

  /// Describes which allocations have stacks.
  private func stacks(period: UInt64) -> String {
    let rest = "once in \(Decimal.bytes(period)) of allocation"
    guard header.firstSamples > 0 else { return "a stack was taken \(rest)" }
    return
      "a stack was taken of the first \(Decimal.grouped(UInt64(header.firstSamples))) allocations, and then \(rest)"
  }

  /// Describes how the trace's limit affects this part of the trace.
  private func remark(_ limit: ReachedLimit) -> String {
    let moment = clock.seconds(at: limit.time).map { " after \(Decimal.duration($0))" } ?? ""
    let reached = "the trace reached its limit of \(Decimal.bytes(limit.bytes))\(moment)"
    if header.isLight {
      let earlier =
        limit.imageBefore.map { ", which --snapshot \($0) shows" } ?? "; without a heap image, no report shows it"
      return
        "\(reached), and from then on this was a light recording: the report shows the blocks of the heap image, \(stacks(period: limit.samplePeriod)). \(Self.reachOfImages). Before that every call was recorded\(earlier)"
    }
    return
      "\(reached): this part was recorded up to then\(limit.hasLaterImage ? ", and later heap images show the blocks that were live after it" : "")"
  }
}
