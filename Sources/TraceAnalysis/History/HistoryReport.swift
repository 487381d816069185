// Who retained an object, as a value.

/// Where a reference was taken or given up.
public struct HistoryPlace: Hashable, Sendable {
  /// The program's innermost function, for an allocation outside the initialisers of its type; nil if the stack has none.
  public var function: SourceFrame?
  /// What of a library that function called to get there.
  public var through: String?
  /// A stack that leads there.
  public var stack: StackID

  public init(stack: StackID) { self.stack = stack }
}

/// What a retain history says of one object.
public struct ObjectHistory: Sendable {
  /// One row.
  public struct Row: Sendable {
    public var event: HistoryEvent
    public var place: HistoryPlace
    /// Seconds since the allocation; nil if the clock's rate is unknown.
    public var seconds: Double?
    /// The strong references after it, by the balance.
    public var strong: Int64
    /// Numbers of the rows that are its other half, from 1.
    public var partners: [Int]
    /// References of it without another half: of a retain, not given up; of a release, not seen taken.
    public var rest: Int64
  }

  public var block: LiveBlock
  public var rows: [Row]
  public var isFreed: Bool
}

/// A place that took references, over all objects that are asked about.
public struct RetainSite: Sendable {
  public var place: HistoryPlace
  /// `allocated`, `retain` and so on.
  public var operation: Operation
  public var taken: UInt64
  public var givenUp: UInt64
  /// In how many objects.
  public var objects: UInt64
  /// In how many objects some were not given up.
  public var openObjects: UInt64
  /// Where its references were given up, most first.
  public var givenUpAt: [(place: HistoryPlace, count: UInt64)]

  public var rest: UInt64 { taken - min(taken, givenUp) }
}

/// Whether the balances are the reference counts in memory.
public struct CountComparison: Hashable, Sendable {
  public var equal: UInt64 = 0
  public var different: UInt64 = 0
  /// Objects whose count the image does not have, or that are freed.
  public var unknown: UInt64 = 0
}

/// The answer to `leaktrace history`.
public struct HistoryReport: Sendable {
  public enum Scope: Sendable {
    /// What was live when a heap image was taken, and what happened until then.
    case live(TraceSnapshot)
    /// All that were ever allocated.
    case ever
  }

  public var scope: Scope
  public var typeName: String
  public var objects: UInt64
  /// If it is one.
  public var object: ObjectHistory?
  /// Of the object that stands for the group.
  public var example: RuntimeAddress
  /// The count in the image, if one object was asked about and the image has it.
  public var count: ReferenceCount?
  /// Most references that were not given up first, then most taken.
  public var sites: [RetainSite]
  /// Places that gave up references that were not seen taken.
  public var unmatchedReleases: [(place: HistoryPlace, count: UInt64)]
  public var counts: CountComparison
  /// Why the history is incomplete, or may be; empty if it is whole.
  public var gaps: [HistoryGap]

  public var openSites: [RetainSite] { sites.filter { $0.rest > 0 } }
}

/// Something that keeps a history from being whole.
public enum HistoryGap: Hashable, Sendable {
  case withoutStacks
  case withoutSwiftHooks
  case paused
  case dropped(UInt64)
  /// Events that the reader left out.
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
  /// Balances that are not the counts in memory, and nothing that is known to explain it.
  case different(objects: UInt64)
  case unmatchedReleases(UInt64)
  /// Objects whose memory was freed with references left over.
  case freedUnbalanced(objects: UInt64)

  /// References may be missing from the history, or counts in it be wrong. The others only keep it from being checked.
  public var isIncomplete: Bool {
    switch self {
    case .withoutStacks, .noSnapshot, .notCaptured, .immortal, .deinitialised, .notFrozen: false
    default: true
    }
  }

  /// The name in JSON.
  public var key: String {
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

  /// One sentence.
  public var explanation: String {
    switch self {
    case .withoutStacks: "retains and releases were recorded without stacks (--arc counts): they are paired by order alone, and have no places"
    case .withoutSwiftHooks: "retains and releases were not seen in this process"
    case .paused: "recording was paused while it lived: what happened then is missing"
    case .dropped(let count): "\(Decimal.grouped(count)) events of the trace were not recorded"
    case .tooManyEvents(let count): "\(Decimal.grouped(count)) of their events are left out: there are more than a file of this size justifies"
    case .damaged: "the trace is damaged: events are missing"
    case .staticRuntime:
      "a Swift runtime is inside the program or a library, or in a namespace of its own: weak loads and unowned upgrades, which take a strong reference, are not seen, "
        + "and the releases that belong to them are"
    case .nonatomic: "its count was changed without atomic instructions: if several threads did, the count in memory may be wrong"
    case .immortal: "it is never freed: its count does not change"
    case .deinitialised: "deinit had begun: no strong reference is left"
    case .notCaptured(let count): "the heap image has no count of \(Decimal.counted(count, "object"))"
    case .notFrozen: "threads ran on while the heap image was taken: a count may differ by what was going on"
    case .noSnapshot: "there is no heap image to check the balance against"
    case .noObject: "it is no object that Swift allocated, and what references it was born with is not known"
    case .different(let count): "the balance of \(Decimal.counted(count, "object")) is not the count in memory"
    case .unmatchedReleases(let count): "\(Decimal.counted(count, "release")) gave up a reference that was not seen taken"
    case .freedUnbalanced(let count): "\(Decimal.counted(count, "object")) \(count == 1 ? "was" : "were") freed with references that were not seen given up"
    }
  }
}
