// How a run went: live memory over time, and important moments.

import TraceReading

/// Live memory over time, with heap images, pauses and scopes. Made by a pass over the events.
package struct RunTimeline: Sendable {
  /// A span of time, in ticks.
  struct Span: Sendable {
    var from: UInt64
    /// The end; nil if the span had not ended.
    var to: UInt64?
    /// The name of a scope; empty for a pause.
    var name = ""
  }

  let intervals: [LiveTimeline.Interval]
  let images: [TraceSnapshot]
  let pauses: [Span]
  let scopes: [Span]
  /// The number of executions of scopes that `scopes` leaves out, because a chart cannot show more.
  let omittedScopes: UInt64

  /// Makes the timeline of a trace. `analysis` must be of the same trace. Linear in the trace's events.
  package init(_ reader: TraceReader, _ analysis: AllocationAnalysis) {
    let timeline = LiveTimeline(from: analysis.header.startTime, to: analysis.atExit.time)
    let observed = Replayer.replay(reader, ObserverPair(timeline, ScopeTimes(reader.marks))).observer
    intervals = observed.first.intervals
    images = reader.snapshots
    scopes = observed.second.scopes
    omittedScopes = observed.second.omittedCount
    var pauses: [Span] = []
    for pause in analysis.definitions.pauses {
      if pause.begins {
        pauses.append(Span(from: pause.time))
      } else if pauses.last?.to == nil, !pauses.isEmpty {
        pauses[pauses.count - 1].to = pause.time
      }
    }
    self.pauses = Array(pauses.prefix(Self.pauseLimit))
  }

  /// Maximum number of pauses. More would look like a solid line.
  private static let pauseLimit = 500
}

/// Collects the beginnings and ends of the program's scopes.
private struct ScopeTimes: ReplayObserver {
  private let marks: MarkTable
  private(set) var scopes: [RunTimeline.Span] = []
  private(set) var omittedCount: UInt64 = 0
  /// Indices of scopes without an end yet, by the number that their beginning and end share.
  private var open: [UInt64: Int] = [:]

  private static let limit = 500

  init(_ marks: MarkTable) { self.marks = marks }

  mutating func marked(_ event: TraceEvent, execution: ExecutionID, block: LiveBlock?) {
    let mark = marks.mark(Int(event.size))
    switch mark.kind {
    case .scopeBegin where scopes.count < Self.limit:
      open[mark.number] = scopes.count
      scopes.append(RunTimeline.Span(from: event.time, name: marks.text(mark.name)))
    case .scopeBegin: omittedCount += 1
    case .scopeEnd:
      if let index = open.removeValue(forKey: mark.number) { scopes[index].to = event.time }
    default: break
    }
  }

  @inline(__always) mutating func blockAllocated(_ block: LiveBlock, by event: TraceEvent) {}
  @inline(__always) mutating func blockFreed(_ block: LiveBlock, by event: TraceEvent) {}
  @inline(__always) mutating func blockRestored(_ block: LiveBlock, by event: TraceEvent) {}
  @inline(__always) mutating func referencesChanged(_ block: LiveBlock, by event: TraceEvent) {}
  @inline(__always) mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent) {}
}
