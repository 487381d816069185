// The first page of a trace, its status block and its closing record, as Swift values.

import CTraceFormat

/// The fixed properties of a trace, from its first bytes.
package struct TraceHeader: Hashable, Sendable {
  package enum Clock: Hashable, Sendable {
    case timeStampCounter
    /// Nanoseconds of CLOCK_MONOTONIC.
    case monotonic
    case unknown(UInt8)
  }
  package enum ReferenceCounting: Hashable, Sendable {
    case withStacks, countsOnly, off
    case unknown(UInt8)
  }

  package var version: UInt32 = UInt32(LT_FORMAT_VERSION)
  /// `e_machine` of the traced program.
  package var machine: UInt16 = 62
  var pointerSize: UInt8 = 8
  package var clock: Clock = .timeStampCounter
  /// Bytes of a page of the traced program's kernel; one of `pageSizes`.
  package var pageSize: UInt32 = 4096
  package var processID: UInt32 = 0
  package var parentProcessID: UInt32 = 0
  package var traceID: UInt64 = 0
  /// The same number in all traces of one recording; 0 if the user preloaded the recorder by hand.
  package var sessionID: UInt64 = 0
  /// Nanoseconds since 1970.
  package var startRealtime: UInt64 = 0
  /// Nanoseconds of CLOCK_MONOTONIC.
  package var startMonotonic: UInt64 = 0
  /// Ticks.
  package var startTime: UInt64 = 0
  /// 0 if unknown.
  package var ticksPerSecond: UInt64 = 0
  package var options: UInt32 = 0
  package var referenceCounting: ReferenceCounting = .withStacks
  /// The most frames of a recorded stack.
  package var stackDepthLimit: UInt32 = 0
  /// In bytes.
  var liveSlotSize: UInt32 = 0
  /// Bytes of allocation from one sample to the next, on average; only in light recordings.
  package var samplePeriod: UInt64 = 0
  /// The number of allocations at the beginning that may all have been sampled; only in light recordings.
  package var firstSamples: UInt32 = 0

  /// The page sizes that Linux has on the supported processors, in bytes.
  package static let pageSizes: [UInt32] = [4 << 10, 16 << 10, 64 << 10]

  package init() {}

  /// True if another process inspected the process once. The trace then has blocks and an image, but no history.
  package var isInspection: Bool { options & UInt32(LT_OPTION_INSPECTED) != 0 }
  /// True if the recorder took samples. The trace then has the blocks at each heap image, some of them with stacks, but
  /// no history.
  package var isLight: Bool { options & UInt32(LT_OPTION_LIGHT) != 0 }
  /// True if the blocks come only from images. The trace then does not show when blocks were allocated, or which blocks
  /// were freed.
  package var lacksHistory: Bool { isInspection || isLight }
  package var startedPaused: Bool { options & UInt32(LT_OPTION_START_PAUSED) != 0 }

  /// Changes the header as if the recorder had sampled from the beginning.
  mutating func becomeLight(samplePeriod: UInt64) {
    options |= UInt32(LT_OPTION_LIGHT)
    self.samplePeriod = samplePeriod
  }
}

/// The recorder's progress. It may be inconsistent, because the recorder changes this part of the file in place,
/// without a checksum.
package struct TraceStatus: Hashable, Sendable {
  /// 1: recording. 2: closed. 3: stopped early. Other values are damage.
  package var state: UInt32
  /// The errno that stopped the recording; 0 if none did.
  package var stopErrno: Int32
  var stopTime: UInt64
  package var eventCount: UInt64
  package var drops: DropCounts
}

/// The numbers of calls or stacks that are missing from a trace, by reason.
package struct DropCounts: Hashable, Sendable {
  package enum Reason: Int, CaseIterable, Hashable, Sendable {
    case nested = 0, stopped, noMemory, stackTruncated, stackIncomplete, expectationUnwatched, paused, stackMismatch

    /// A phrase for reports.
    package var explanation: String {
      switch self {
      case .nested: "calls made inside a hook (by a signal handler)"
      case .stopped: "calls after the recording had to stop"
      case .noMemory: "calls without memory for a buffer"
      case .stackTruncated: "stacks cut at the depth limit"
      case .stackIncomplete: "stacks that end at a frame without unwind information"
      case .expectationUnwatched:
        "expectations that were too many to watch, so that images of their time may be missing"
      case .paused: "calls while paused"
      case .stackMismatch: "stacks that differed from a fresh unwind"
      }
    }

    /// True if the whole event is missing, not only a part of its stack.
    package var losesEvents: Bool {
      switch self {
      case .nested, .stopped, .noMemory, .paused: true
      case .stackTruncated, .stackIncomplete, .expectationUnwatched, .stackMismatch: false
      }
    }

    /// The name in JSON.
    package var key: String {
      switch self {
      case .nested: "nested"
      case .stopped: "stopped"
      case .noMemory: "noMemory"
      case .stackTruncated: "stackTruncated"
      case .stackIncomplete: "stackIncomplete"
      case .expectationUnwatched: "expectationUnwatched"
      case .paused: "paused"
      case .stackMismatch: "stackMismatch"
      }
    }
  }

  /// The number of drops by the format's index of the reason, including reasons that this reader does not know.
  package var counts: [UInt64]

  package init(counts: [UInt64] = Array(repeating: 0, count: Int(LT_DROP_COUNT))) { self.counts = counts }

  package subscript(reason: Reason) -> UInt64 { reason.rawValue < counts.count ? counts[reason.rawValue] : 0 }

  /// The number of drops for reasons that this reader does not know.
  package var unknown: UInt64 { counts.dropFirst(Reason.allCases.count).reduce(0) { $0 &+ $1 } }
}

/// The closing record, which the recorder writes last. If the process died before, a tool writes the record when it
/// finishes the trace.
package struct TraceClosing: Hashable, Sendable {
  package enum Reason: Hashable, Sendable {
    case exit, exec, stopped, recovered, underscoreExit, detached
    case unknown(UInt32)
  }

  package var reason: Reason
  /// The status from waitpid; −1 if unknown.
  package var waitStatus: Int32
  /// Ticks.
  package var time: UInt64
  /// Nanoseconds; 0 if unknown.
  package var monotonic: UInt64
  /// The number of events in all chunks.
  package var eventCount: UInt64
  /// In bytes; 0 if unknown.
  package var residentBytes: UInt64
  package var peakResidentBytes: UInt64
  /// Resident bytes that are the recorder's own.
  package var recorderBytes: UInt64
  package var threadCount: UInt32
  package var untracedChildren: UInt32
  package var drops: DropCounts

  package init(reason: Reason = .exit, waitStatus: Int32 = -1, time: UInt64 = 0, eventCount: UInt64 = 0) {
    self.reason = reason
    self.waitStatus = waitStatus
    self.time = time
    self.eventCount = eventCount
    monotonic = 0
    residentBytes = 0
    peakResidentBytes = 0
    recorderBytes = 0
    threadCount = 0
    untracedChildren = 0
    drops = DropCounts()
  }
}

extension TraceClosing {
  /// Returns a closing record for a recording that ended at `time` while the process went on.
  func ended(at time: UInt64) -> TraceClosing {
    var closing = self
    closing.reason = .stopped
    closing.time = time
    closing.monotonic = 0
    closing.residentBytes = 0
    return closing
  }
}
