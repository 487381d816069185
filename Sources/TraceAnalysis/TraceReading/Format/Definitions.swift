// The contents of a trace's definition records.

import CTraceFormat
import TextWriting

/// A type of objects that the program allocated.
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

  /// The type's number, from 1. Events refer to it.
  package var id: UInt32
  package var metadata: RuntimeAddress
  package var kind: Kind
  /// The context descriptor, or the capture descriptor of a closure or box; 0 if unknown.
  package var descriptor: RuntimeAddress
  /// Empty when unknown.
  package var name: String
  /// The type ID of the superclass; 0 if there is none.
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

/// The readings of two clocks at the same moment.
package struct ClockSample: Hashable, Sendable {
  /// Ticks of the trace's clock.
  package var time: UInt64
  /// Nanoseconds of CLOCK_MONOTONIC.
  package var monotonic: UInt64
  /// Nanoseconds of CLOCK_BOOTTIME; nil in older traces.
  package var boot: UInt64?

  package init(time: UInt64, monotonic: UInt64, boot: UInt64? = nil) {
    (self.time, self.monotonic, self.boot) = (time, monotonic, boot)
  }
}

/// The process's memory at a moment.
package struct MemorySample: Hashable, Sendable {
  package var time: UInt64
  /// Resident bytes, including the recorder's own.
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

  /// Resident bytes without the recorder's own.
  package var residentOfProgram: UInt64 { resident - min(resident, recorder) }
}

/// A time when recording was paused or resumed.
package struct PauseRecord: Hashable, Sendable {
  package var begins: Bool
  package var time: UInt64
}

package struct ThreadRecord: Hashable, Sendable {
  /// The thread's number in the trace, from 1.
  package var thread: UInt32
  package var osThread: UInt64
  /// The time of the thread's first event.
  package var time: UInt64

  package init(thread: UInt32, osThread: UInt64, time: UInt64) {
    self.thread = thread
    self.osThread = osThread
    self.time = time
  }
}

/// The traced process, as the trace describes it.
package struct ProcessRecord: Hashable, Sendable {
  /// The path of the executable; empty if the trace does not have it.
  package var executable: String = ""
  package var flags: UInt64 = 0

  package init(executable: String = "", flags: UInt64 = 0) {
    self.executable = executable
    self.flags = flags
  }

  package var hasSwiftHooks: Bool { flags & UInt64(LT_PROCESS_SWIFT_HOOKS) != 0 }
  /// A Swift runtime is linked statically into the program or one of its libraries, or is in its own linker namespace.
  /// Calls of this runtime's functions are not recorded if the recorder interposes these functions by name.
  package var hasStaticRuntime: Bool { flags & UInt64(LT_PROCESS_SWIFT_STATIC) != 0 }
  /// The process began as a fork. The parent's blocks are live, but their allocations were never seen.
  package var isForked: Bool { flags & UInt64(LT_PROCESS_FORKED) != 0 }
  /// The process was running when the recording began. Older blocks are live, but their allocations were never seen.
  package var isAttached: Bool { flags & UInt64(LT_PROCESS_ATTACHED) != 0 }
  /// The process began as a fork by one of several threads. The parent's other threads used objects that the child
  /// cannot identify.
  package var lacksThreads: Bool { flags & UInt64(LT_PROCESS_THREADS_MISSING) != 0 }
  /// The allocator has memory whose blocks an inspection did not find.
  var lacksBlocks: Bool { flags & UInt64(LT_PROCESS_BLOCKS_MISSING) != 0 }
}

/// All definitions of a trace. They do not change after the trace was read, except for the stacks.
package struct TraceDefinitions: Sendable {
  /// The stacks of the events that were read so far.
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
  /// All sites at each image, in order of time; only in light recordings.
  package internal(set) var sampledSites: [SampledSite] = []
  /// The switch from events to samples; nil if the trace did not reach its limit.
  package internal(set) var limit: ReachedLimit?
  /// In order of time.
  package internal(set) var pauses: [PauseRecord] = []
  /// In order of the threads' numbers.
  package internal(set) var threads: [ThreadRecord] = []
  package internal(set) var warnings: [String] = []
  /// By the kernel's number of the thread. Only inspections have them.
  package internal(set) var threadStacks: [UInt64: ThreadStack] = [:]
  package internal(set) var process = ProcessRecord()

  init() {}

  /// If two threads first use a type at the same moment, both give it a number. Maps the higher numbers of such a type
  /// to its lowest number. Linear in the types.
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
