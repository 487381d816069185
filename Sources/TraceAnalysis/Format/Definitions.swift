// What the definition records of a trace say.

import CTraceFormat

/// A type that the program allocated objects of.
public struct TraceType: Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    case `class`, closureContext, box, error, task
    case other(UInt64)

    init(rawValue: UInt64) {
      switch rawValue {
      case UInt64(LT_TYPE_CLASS): self = .class
      case UInt64(LT_TYPE_CONTEXT): self = .closureContext
      case UInt64(LT_TYPE_BOX): self = .box
      case UInt64(LT_TYPE_ERROR): self = .error
      case UInt64(LT_TYPE_TASK): self = .task
      default: self = .other(rawValue)
      }
    }

    var rawValue: UInt64 {
      switch self {
      case .class: UInt64(LT_TYPE_CLASS)
      case .closureContext: UInt64(LT_TYPE_CONTEXT)
      case .box: UInt64(LT_TYPE_BOX)
      case .error: UInt64(LT_TYPE_ERROR)
      case .task: UInt64(LT_TYPE_TASK)
      case .other(let n): n
      }
    }
  }

  /// From 1; events refer to it.
  public var id: UInt32
  public var metadata: RuntimeAddress
  public var kind: Kind
  /// The context descriptor, or for a closure or box the capture descriptor; 0 when unknown.
  public var descriptor: RuntimeAddress
  /// Empty when unknown.
  public var name: String
  /// 0 for none.
  public var superclass: UInt32

  public init(
    id: UInt32, metadata: RuntimeAddress = RuntimeAddress(0), kind: Kind, descriptor: RuntimeAddress = RuntimeAddress(0), name: String,
    superclass: UInt32 = 0
  ) {
    self.id = id
    self.metadata = metadata
    self.kind = kind
    self.descriptor = descriptor
    self.name = name
    self.superclass = superclass
  }

  /// What a report calls it.
  public var displayName: String {
    switch kind {
    case .closureContext: name.isEmpty ? "closure context or box" : "closure context or box (\(name))"
    case .box: name.isEmpty ? "box" : "box (\(name))"
    case .error: name.isEmpty ? "error" : "error (\(name))"
    case .task: name.isEmpty ? "task" : "task (\(name))"
    case .class, .other: name.isEmpty ? "unknown type \(Hexadecimal.text(metadata.rawValue))" : name
    }
  }
}

/// Both clocks, read together.
public struct ClockSample: Hashable, Sendable {
  /// Ticks of the trace's clock.
  public var time: UInt64
  /// Nanoseconds of CLOCK_MONOTONIC.
  public var monotonic: UInt64
}

/// The process's memory at a moment.
public struct MemorySample: Hashable, Sendable {
  public var time: UInt64
  /// Bytes, the recorder's own included.
  public var resident: UInt64
  /// Resident bytes that are the recorder's own.
  public var recorder: UInt64
  /// Highest resident bytes so far; 0 if unknown.
  public var peakResident: UInt64

  /// Bytes that are the program's.
  public var residentOfProgram: UInt64 { resident - min(resident, recorder) }
}

/// A moment at which recording was paused or resumed.
public struct PauseRecord: Hashable, Sendable {
  public var begins: Bool
  public var time: UInt64
}

public struct ThreadRecord: Hashable, Sendable {
  /// The trace's number for it, from 1.
  public var thread: UInt32
  public var osThread: UInt64
  /// Of its first event.
  public var time: UInt64
}

/// What is known of the traced process.
public struct ProcessRecord: Hashable, Sendable {
  /// Empty if the trace does not say.
  public var executable: String = ""
  public var flags: UInt64 = 0

  public var hasSwiftHooks: Bool { flags & UInt64(LT_PROCESS_SWIFT_HOOKS) != 0 }
  /// A runtime is inside the program or a library of it, or in a namespace of its own: functions that are interposed by name are not seen.
  public var hasStaticRuntime: Bool { flags & UInt64(LT_PROCESS_SWIFT_STATIC) != 0 }
  /// Began as a fork: the parent's blocks are live but were never seen allocated.
  public var isForked: Bool { flags & UInt64(LT_PROCESS_FORKED) != 0 }
}

/// Everything a trace defines. Immutable once read, but for the stacks.
public struct TraceDefinitions: Sendable {
  /// Grows while events are read.
  public let stacks = StackTree()
  public internal(set) var types: [UInt32: TraceType] = [:]
  public internal(set) var images: [TraceImage] = []
  public internal(set) var clockSamples: [ClockSample] = []
  /// In order of time.
  public internal(set) var memorySamples: [MemorySample] = []
  /// In order of time.
  public internal(set) var pauses: [PauseRecord] = []
  /// By number.
  public internal(set) var threads: [ThreadRecord] = []
  public internal(set) var warnings: [String] = []
  public internal(set) var process = ProcessRecord()

  init() {}

  /// Two threads that meet a type at the same moment give it a number each: those that mean a type of a lower number, and that number. Linear in the types.
  var repeatedTypes: [UInt32: UInt32] {
    struct Meaning: Hashable {
      var metadata: RuntimeAddress
      var name: String
    }
    var first: [Meaning: UInt32] = [:]
    var repeated: [UInt32: UInt32] = [:]
    for (id, type) in types.sorted(by: { $0.key < $1.key }) where type.metadata.rawValue != 0 {
      let meaning = Meaning(metadata: type.metadata, name: type.name)
      if let known = first[meaning] { repeated[id] = known } else { first[meaning] = id }
    }
    return repeated
  }
}
