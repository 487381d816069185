// The first page of a trace, its status block and its closing record, as Swift values.

import CTraceFormat

/// The fixed facts of a trace, from its first bytes.
public struct TraceHeader: Hashable, Sendable {
  public enum Clock: Hashable, Sendable {
    case timeStampCounter
    /// Nanoseconds of CLOCK_MONOTONIC.
    case monotonic
    case unknown(UInt8)
  }
  public enum ReferenceCounting: Hashable, Sendable {
    case withStacks, countsOnly, off
    case unknown(UInt8)
  }

  public var version: UInt32 = UInt32(LT_FORMAT_VERSION)
  /// `e_machine` of the traced program.
  public var machine: UInt16 = 62
  public var pointerSize: UInt8 = 8
  public var clock: Clock = .timeStampCounter
  public var pageSize: UInt32 = 4096
  public var processID: UInt32 = 0
  public var parentProcessID: UInt32 = 0
  public var traceID: UInt64 = 0
  /// Equal in all traces of one recording; 0 when preloaded by hand.
  public var sessionID: UInt64 = 0
  /// Nanoseconds since 1970.
  public var startRealtime: UInt64 = 0
  /// Nanoseconds.
  public var startMonotonic: UInt64 = 0
  /// Ticks.
  public var startTime: UInt64 = 0
  /// 0 when unknown.
  public var ticksPerSecond: UInt64 = 0
  public var options: UInt32 = 0
  public var referenceCounting: ReferenceCounting = .withStacks
  /// Frames.
  public var stackDepthLimit: UInt32 = 0
  /// Bytes.
  public var liveSlotSize: UInt32 = 0

  public init() {}

  public var followsChildren: Bool { options & UInt32(LT_OPTION_FOLLOW_CHILDREN) != 0 }
  public var startedPaused: Bool { options & UInt32(LT_OPTION_START_PAUSED) != 0 }
}

/// How far the recorder got. A hint: the block is changed in place, without a checksum.
public struct TraceStatus: Hashable, Sendable {
  /// 1 recording, 2 closed, 3 stopped early; others are damage.
  public var state: UInt32
  /// The errno that stopped the recording, 0 if none.
  public var stopErrno: Int32
  public var stopTime: UInt64
  public var eventCount: UInt64
  public var drops: DropCounts
}

/// Why and how often something is missing from a trace.
public struct DropCounts: Hashable, Sendable {
  public enum Reason: Int, CaseIterable, Hashable, Sendable {
    case nested = 0, stopped, noMemory, stackTruncated, stackIncomplete, expectationUnwatched, paused, stackMismatch

    /// A phrase for reports.
    public var explanation: String {
      switch self {
      case .nested: "calls made inside a hook (by a signal handler)"
      case .stopped: "calls after the recording had to stop"
      case .noMemory: "calls for which no buffer could be had"
      case .stackTruncated: "stacks cut at the depth limit"
      case .stackIncomplete: "stacks that end at a frame without unwind information"
      case .expectationUnwatched: "expectations that were too many to watch, so that images of their time may be missing"
      case .paused: "calls while paused"
      case .stackMismatch: "stacks that differed from a fresh unwind"
      }
    }

    /// Whether the whole event is missing, not only a part of its stack.
    public var losesEvents: Bool {
      switch self {
      case .nested, .stopped, .noMemory, .paused: true
      case .stackTruncated, .stackIncomplete, .expectationUnwatched, .stackMismatch: false
      }
    }

    /// The name in JSON.
    public var key: String {
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

  /// By index of the format, those this reader does not know included.
  public var counts: [UInt64]

  public init(counts: [UInt64] = Array(repeating: 0, count: Int(LT_DROP_COUNT))) { self.counts = counts }

  public subscript(reason: Reason) -> UInt64 { reason.rawValue < counts.count ? counts[reason.rawValue] : 0 }

  /// Those counted under reasons that this reader does not know.
  public var unknown: UInt64 { counts.dropFirst(Reason.allCases.count).reduce(0) { $0 &+ $1 } }
}

/// The closing record: what the recorder, or the one who finished its file, said at the end.
public struct TraceClosing: Hashable, Sendable {
  public enum Reason: Hashable, Sendable {
    case exit, exec, stopped, recovered, underscoreExit
    case unknown(UInt32)
  }

  public var reason: Reason
  /// As by waitpid; −1 if unknown.
  public var waitStatus: Int32
  /// Ticks.
  public var time: UInt64
  /// Nanoseconds; 0 if unknown.
  public var monotonic: UInt64
  /// Events of all chunks.
  public var eventCount: UInt64
  /// Bytes; 0 if unknown.
  public var residentBytes: UInt64
  public var peakResidentBytes: UInt64
  /// Resident bytes that are the recorder's own.
  public var recorderBytes: UInt64
  public var threadCount: UInt32
  public var untracedChildren: UInt32
  public var drops: DropCounts

  public init(reason: Reason = .exit, waitStatus: Int32 = -1, time: UInt64 = 0, eventCount: UInt64 = 0) {
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
