// The contents of a trace's definition records.

import CTraceFormat

/// A type that the program allocated objects of.
package struct TraceType: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case `class`, closureContext, box, error, task
    case other(UInt64)

    package init(rawValue: UInt64) {
      switch rawValue {
      case UInt64(LT_TYPE_CLASS): self = .class
      case UInt64(LT_TYPE_CONTEXT): self = .closureContext
      case UInt64(LT_TYPE_BOX): self = .box
      case UInt64(LT_TYPE_ERROR): self = .error
      case UInt64(LT_TYPE_TASK): self = .task
      default: self = .other(rawValue)
      }
    }

    package var rawValue: UInt64 {
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
  package var id: UInt32
  package var metadata: RuntimeAddress
  package var kind: Kind
  /// The context descriptor, or for a closure or box the capture descriptor; 0 when unknown.
  package var descriptor: RuntimeAddress
  /// Empty when unknown.
  package var name: String
  /// 0 for none.
  package var superclass: UInt32

  package init(
    id: UInt32, metadata: RuntimeAddress = RuntimeAddress(0), kind: Kind,
    descriptor: RuntimeAddress = RuntimeAddress(0), name: String,
    superclass: UInt32 = 0
  ) {
    self.id = id
    self.metadata = metadata
    self.kind = kind
    self.descriptor = descriptor
    self.name = name
    self.superclass = superclass
  }

  /// The name that reports use.
  package var displayName: String {
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
package struct ClockSample: Hashable, Sendable {
  /// Ticks of the trace's clock.
  package var time: UInt64
  /// Nanoseconds of CLOCK_MONOTONIC.
  package var monotonic: UInt64
}

/// The process's memory at a moment.
package struct MemorySample: Hashable, Sendable {
  package var time: UInt64
  /// Bytes, the recorder's own included.
  package var resident: UInt64
  /// Resident bytes that are the recorder's own.
  package var recorder: UInt64
  /// Highest resident bytes so far; 0 if unknown.
  package var peakResident: UInt64

  package init(time: UInt64, resident: UInt64, recorder: UInt64 = 0, peakResident: UInt64 = 0) {
    self.time = time
    self.resident = resident
    self.recorder = recorder
    self.peakResident = peakResident
  }

  /// Bytes that are the program's.
  package var residentOfProgram: UInt64 { resident - min(resident, recorder) }
}

/// A time when recording was paused or resumed.
package struct PauseRecord: Hashable, Sendable {
  package var begins: Bool
  package var time: UInt64
}

package struct ThreadRecord: Hashable, Sendable {
  /// The trace's number for it, from 1.
  package var thread: UInt32
  package var osThread: UInt64
  /// Time of its first event.
  package var time: UInt64

  package init(thread: UInt32, osThread: UInt64, time: UInt64) {
    self.thread = thread
    self.osThread = osThread
    self.time = time
  }
}

/// The traced process, as the trace describes it.
package struct ProcessRecord: Hashable, Sendable {
  /// Empty if the trace does not say.
  package var executable: String = ""
  package var flags: UInt64 = 0

  package init(executable: String = "", flags: UInt64 = 0) {
    self.executable = executable
    self.flags = flags
  }

  package var hasSwiftHooks: Bool { flags & UInt64(LT_PROCESS_SWIFT_HOOKS) != 0 }
  /// A runtime is linked into the program or one of its libraries, or is in a namespace of its own: functions that are
  /// interposed by name are not seen.
  package var hasStaticRuntime: Bool { flags & UInt64(LT_PROCESS_SWIFT_STATIC) != 0 }
  /// Began as a fork: the parent's blocks are live but were never seen allocated.
  package var isForked: Bool { flags & UInt64(LT_PROCESS_FORKED) != 0 }
  /// Was running when the recording began: blocks from before are live but were never seen allocated.
  package var isAttached: Bool { flags & UInt64(LT_PROCESS_ATTACHED) != 0 }
  /// Began as a fork by one of several threads. The other threads kept objects in use, and the child cannot identify
  /// them.
  package var lacksThreads: Bool { flags & UInt64(LT_PROCESS_THREADS_MISSING) != 0 }
  /// The allocator has memory whose blocks an inspection did not find.
  package var lacksBlocks: Bool { flags & UInt64(LT_PROCESS_BLOCKS_MISSING) != 0 }
}

/// Everything a trace defines. Immutable once read, except the stacks.
package struct TraceDefinitions: Sendable {
  /// Grows while events are read.
  package let stacks = StackTree()
  package internal(set) var types: [UInt32: TraceType] = [:]
  package internal(set) var images: [TraceImage] = []
  package internal(set) var clockSamples: [ClockSample] = []
  /// In order of time.
  package internal(set) var memorySamples: [MemorySample] = []
  /// The allocators' states at images, in order of time.
  package internal(set) var allocators: [AllocatorRecord] = []
  /// In order of time.
  package internal(set) var residences: [ResidenceRecord] = []
  /// In order of time; only in light recordings.
  package internal(set) var sampleTotals: [SampleTotals] = []
  /// In order of time, all sites at each image; only in light recordings.
  package internal(set) var sampledSites: [SampledSite] = []
  /// Set if the trace has reached its limit.
  package internal(set) var limit: ReachedLimit?
  /// In order of time.
  package internal(set) var pauses: [PauseRecord] = []
  /// By number.
  package internal(set) var threads: [ThreadRecord] = []
  package internal(set) var warnings: [String] = []
  /// By the kernel's number of the thread; only in inspections.
  package internal(set) var threadStacks: [UInt64: ThreadStack] = [:]
  package internal(set) var process = ProcessRecord()

  init() {}

  /// Two threads that meet a type at the same moment each give it a number. Maps the higher numbers of a type to its
  /// lowest. Linear in the types.
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
