// The retain history of an object, as a value.

import HeapAnalysis
import TextWriting
import TraceReading
import TraceSymbolication

/// A place where code took or released references.
package struct HistoryPlace: Hashable, Sendable {
  /// The program's innermost function; nil if the stack has none. For an allocation, initialisers of the allocated type
  /// are skipped.
  package var function: SourceFrame?
  /// The library function through which `function` reached the place; nil if there is none.
  package var through: String?
  /// A stack of a call at this place.
  package var stack: StackID

  package init(stack: StackID) { self.stack = stack }
}

/// The retain history of one object.
package struct ObjectHistory: Sendable {
  /// One event of the history.
  package struct Row: Sendable {
    package var event: HistoryEvent
    package var place: HistoryPlace
    /// Seconds since the allocation; nil if the clock's rate is unknown.
    package var seconds: Double?
    /// The number of strong references after the event, according to the balance.
    package var strong: Int64
    /// Numbers, from 1, of the rows that this row is paired with.
    package var partners: [Int]
    /// The number of unpaired references. For a retain: references that were never released. For a release: references
    /// whose retain was not seen.
    package var rest: Int64
  }

  package var block: LiveBlock
  package var rows: [Row]
  package var isFreed: Bool
}

/// The references taken at one place, summed over all objects of the query.
package struct RetainSite: Sendable {
  package var place: HistoryPlace
  /// The operation that took the references, such as the allocation or a retain.
  package var operation: Operation
  package var taken: UInt64
  package var givenUp: UInt64
  /// The number of objects whose references this place took.
  package var objects: UInt64
  /// The number of objects with references from this place that were never released.
  package var openObjects: UInt64
  /// The places that released the references, in descending order of references.
  package var givenUpAt: [(place: HistoryPlace, count: UInt64)]

  package var rest: UInt64 { taken - min(taken, givenUp) }
}

/// The numbers of objects by how their balances compare with the reference counts in memory.
package struct CountComparison: Hashable, Sendable {
  package var equal: UInt64 = 0
  package var different: UInt64 = 0
  /// Objects whose count the heap image lacks, or that are never freed.
  package var unknown: UInt64 = 0
}

/// The answer to `leaktrace history`.
package struct HistoryReport: Sendable {
  package enum Scope: Sendable {
    /// The objects that were live when a heap image was taken, with their history up to the heap image.
    case live(TraceSnapshot)
    /// All matching objects that were ever allocated.
    case ever
  }

  package var scope: Scope
  package var typeName: String
  package var objects: UInt64
  /// The object's history, if the query matches one object.
  package var object: ObjectHistory?
  /// The address of the object that is shown as an example.
  package var example: RuntimeAddress
  /// The reference count in the heap image. Nil unless the query is for one object, and the heap image has its count.
  package var count: ReferenceCount?
  /// In descending order of references that were never released, then of references taken.
  package var sites: [RetainSite]
  /// Places that released references whose retains were not seen.
  package var unmatchedReleases: [(place: HistoryPlace, count: UInt64)]
  package var counts: CountComparison
  /// The reasons why the history is or may be incomplete, or could not be checked; empty if there are none.
  package var gaps: [HistoryGap]

  package var openSites: [RetainSite] { sites.filter { $0.rest > 0 } }
}

/// A reason why a history is or may be incomplete, or cannot be checked.
package enum HistoryGap: Hashable, Sendable {
  case withoutStacks
  case withoutSwiftHooks
  case paused
  case dropped(UInt64)
  /// Events that were left out, to limit memory.
  case tooManyEvents(UInt64)
  case damaged
  case staticRuntime
  case nonatomic
  case immortal
  case deinitialised
  case notCaptured(objects: UInt64)
  case notFrozen
  case noSnapshot
  case noObject
  /// Objects whose balance differs from the count in memory, without a known explanation.
  case different(objects: UInt64)
  case unmatchedReleases(UInt64)
  /// Objects whose memory was freed although references remained.
  case freedUnbalanced(objects: UInt64)

  /// True if references may be missing from the history, or counts may be wrong. The other gaps only prevent a check or
  /// the naming of places.
  package var isIncomplete: Bool {
    switch self {
    case .withoutStacks, .noSnapshot, .notCaptured, .immortal, .deinitialised, .notFrozen: false
    default: true
    }
  }

  /// The name in JSON.
  package var key: String {
    switch self {
    case .withoutStacks: "withoutStacks"
    case .withoutSwiftHooks: "withoutSwiftHooks"
    case .paused: "paused"
    case .dropped: "dropped"
    case .tooManyEvents: "tooManyEvents"
    case .damaged: "damaged"
    case .staticRuntime: "staticRuntime"
    case .nonatomic: "nonatomic"
    case .immortal: "immortal"
    case .deinitialised: "deinitialised"
    case .notCaptured: "notCaptured"
    case .notFrozen: "notFrozen"
    case .noSnapshot: "noSnapshot"
    case .noObject: "noObject"
    case .different: "different"
    case .unmatchedReleases: "unmatchedReleases"
    case .freedUnbalanced: "freedUnbalanced"
    }
  }

  /// The explanation in a report: a sentence without its full stop.
  package var explanation: String {
    switch self {
    case .withoutStacks:
      "retains and releases were recorded without stacks (--arc counts): they are paired by order alone, without places"
    case .withoutSwiftHooks: "no retains and releases were seen in this process"
    case .paused: "recording was paused while it lived: events are missing"
    case .dropped(let count): "\(Decimal.grouped(count)) events of the trace were not recorded"
    case .tooManyEvents(let count):
      "\(Decimal.grouped(count)) of their events are left out: too many for a stranger's file of this size"
    case .damaged: "the trace is damaged: events are missing"
    case .staticRuntime:
      "a Swift runtime is inside the program or a library, or in a namespace of its own: weak loads and unowned upgrades, which take a strong reference, were not recorded, "
        + "but their releases were"
    case .nonatomic:
      "its count was changed without atomic instructions: if several threads did, the count in memory may be wrong"
    case .immortal: "it is never freed: its count does not change"
    case .deinitialised: "deinit had begun: no strong reference is left"
    case .notCaptured(let count): "the heap image has no count of \(Decimal.counted(count, "object"))"
    case .notFrozen: "threads ran on while the heap image was taken: counts may differ"
    case .noSnapshot: "there is no heap image to check the balance against"
    case .noObject: "Swift did not allocate it, so its first references are unknown"
    case .different(let count): "the balance of \(Decimal.counted(count, "object")) is not the count in memory"
    case .unmatchedReleases(let count):
      "\(Decimal.counted(count, "release")) released a reference whose retain was not seen"
    case .freedUnbalanced(let count):
      "\(Decimal.counted(count, "object")) \(count == 1 ? "was" : "were") freed with references whose release was not seen"
    }
  }
}
