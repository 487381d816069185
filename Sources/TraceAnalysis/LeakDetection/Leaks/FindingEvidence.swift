// The evidence of a finding: facts about its objects, and conclusions from these facts.

import HeapAnalysis
import TraceReading
import TraceSymbolication

extension Finding {
  /// The reason why the objects of a finding should be gone. Each case has the facts of its kind, and no others.
  package enum Evidence: Hashable, Sendable {
    /// No root keeps the objects. `way`: how the program may still use them.
    case unreachable(Unreachable, way: Way?)
    /// The object's deinit has run, and unowned references keep its memory. The counts are nil if they are not known.
    case deinitialised(ReferenceCount?)
    /// A reference leads to an object that has ended, or code used the object after its end. The value is nil if the
    /// trace does not show the end.
    case dangling(Ending?)
    /// The objects are reachable. The fates of other objects from the same code make these objects suspicious.
    case suspected(Suspicion, Survivors)
    /// The objects are reachable. The program stated that they should be gone.
    case stated(Statement, Survivors)
    /// The objects are reachable. Each round of repeated work left more of them.
    case repeated(Rounds, Retention, Siblings)
    /// The objects are reachable. Successive heap images of the running process have more and more of them.
    case images(ImageGrowth, Retention)
  }

  /// The kinds of unreachable memory.
  package enum Unreachable: Hashable, Sendable {
    /// The objects hold one another.
    case cycle
    /// Nothing refers to the object. The counts are nil if they are not known, and for memory that is not counted.
    case lost(ReferenceCount?)
    /// A task waits for an event that can never happen.
    case suspended(Suspension)
  }

  /// The reason why nothing resumes a task.
  package enum Suspension: Hashable, Sendable {
    /// The task is part of a cycle. Only the task itself keeps the thing that could resume it.
    case inCycle
    /// The task is on no cycle. The value is nil if the heap image does not show the kind of the task's wait.
    case alone(TaskWait?)
  }

  /// A way that the program may still use objects that no reference keeps.
  package struct Way: Codable, Hashable, Sendable {
    package enum Kind: String, Codable, Hashable, Sendable { case number, weak, unowned }
    package var kind: Kind
    /// The place of the number or reference: `Registry.observers`, `[Int : UInt]`, or a variable.
    package var holder: String
  }

  /// The path from a root to a reachable object, up to the last step that all objects of the finding share.
  package struct Retention: Hashable, Sendable {
    /// The beginning of the path.
    package var origin: PathOrigin
    /// The holder, in the program's terms: `static Cache.entries`, `RunLoop timer`, `task started in Session.start()`.
    package var holder: String
    /// The program's own field or variable that leads to the holder, if `holder` is a field of a library's object.
    package var ownHolder: String? = nil
    /// The kind of registration, if the holder is a registration; nil for the program's own collections and fields.
    package var registration: Registration?
    /// True if no other code can end these registrations, or if no code has read the results that they keep. Nil if
    /// that is not known.
    package var isBeyondReach: Bool? = nil
    /// The function of the program that released the object while one of the object's own tasks still keeps it. Nil if
    /// the finding has other evidence.
    package var letGo: SourceFrame? = nil
    /// True if the program cancelled the objects' own tasks, and these wait nevertheless. Nil in a digest of an earlier
    /// version.
    package var isCancelled: Bool? = nil
    /// The common end of the objects, if they are no longer live at the report's image. Nil if they are, and in a digest
    /// of an earlier version.
    package var end: CommonEnd? = nil
    /// True if several functions make such objects. Nil in a digest of an earlier version.
    var isMadeInSeveralPlaces: Bool? = nil
    /// Index in the path of the object that the suspect reference leads to. 0 if the root itself has this reference.
    package var suspect: Int
    /// The number of the heap image that contains the path; nil for the report's own heap image.
    package var snapshot: UInt32? = nil
    /// The ages of the objects; nil if the clock's rate is unknown.
    package var ages: Ages?
  }

  /// The moment when objects ended together, because a function let go of the object that kept them all.
  package struct CommonEnd: Codable, Hashable, Sendable {
    /// The program's function that let go; nil if it is not known.
    package var place: SourceFrame?
    /// The type of the object that kept them all, without modules.
    package var owner: String
  }

  /// The ages of the shown objects, in seconds.
  package struct Ages: Hashable, Sendable {
    package var youngest: Double
    package var oldest: Double
  }

  /// All objects that were made at the same sites, including the shown objects.
  package struct Siblings: Hashable, Sendable {
    package var births: UInt64
    /// The number of siblings that have ended.
    package var deaths: UInt64
    /// The function that contains the ends of nearly all ended siblings. Nil if the siblings ended outside the
    /// program's calls.
    package var scope: SourceFrame?
    /// The percentage of the ended siblings that ended in this scope.
    package var scopeShare: Int
    /// Nine in ten ended siblings lived at most this many seconds; nil if none ended.
    package var lifetime: Double?
  }

  /// Objects that are still held, and figures of their siblings.
  package struct Survivors: Hashable, Sendable {
    package var retention: Retention
    package var siblings: Siblings
    /// The number of the shown objects that were made by the end of each quarter of a period. The period is counted in
    /// events of the process, from the first of these objects to the snapshot. Empty for fewer than eight objects.
    package var quarters: [Int]
  }

  /// A conclusion from the lives of siblings.
  package struct Suspicion: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
      /// The siblings have ended, and these objects have not.
      case outlived
      /// The number of objects grows.
      case accumulating
    }

    package var kind: Kind
    /// Nil in a digest of an earlier version.
    package var figures: Figures?
  }

  /// The figures behind a suspicion.
  package struct Figures: Codable, Hashable, Sendable {
    package var strength: Strength
    /// Probability that chance alone lets this many siblings live this long; nil if no siblings ended.
    package var chance: Double?
    /// The longest life, in seconds, of a sibling that ended; nil if none ended.
    package var longestLifetime: Double?
    /// The number of live objects from the same code at the end of each quarter of a period. The period is counted in
    /// events of the process, from the first of these objects to the snapshot.
    package var live: [UInt64]
  }

  /// The weight of a suspicion.
  package enum Strength: String, Codable, Hashable, Sendable {
    /// Each such suspicion deserves attention.
    case strong
    /// The survival may be chance or intended. Such suspicions are counted, and listed only on request.
    case weak
  }

  /// The degree of certainty that something is wrong.
  package enum Certainty: String, Codable, Hashable, Sendable {
    /// Memory, or a statement of the program, shows the fault.
    case proven
    /// The fault is concluded from the lives of other objects.
    case suspected
  }

  /// A statement of the program that an object should be gone.
  package enum Statement: Hashable, Sendable {
    case scope(ScopeRest)
    case expectation(BrokenExpectation)
  }

  /// A scope whose objects still existed after its grace period.
  package struct ScopeRest: Hashable, Sendable {
    package var place: MarkPlace
    package var executions: UInt64
    /// The number of runs that left objects behind.
    package var executionsWithRest: UInt64
    /// The grace period in seconds; nil if the clock's rate is unknown.
    package var grace: Double?
  }

  /// Objects that were expected to be deallocated.
  package struct BrokenExpectation: Hashable, Sendable {
    package var place: MarkPlace
    /// The number of objects that ended in time.
    package var met: UInt64
    package var late: UInt64
    /// The number of objects that have not ended.
    package var violated: UInt64
    /// In seconds; nil if no object was late.
    package var longestDelay: Double?
  }

  /// Repeated work. The place is empty if the repetition was marked from outside the program.
  package struct Rounds: Hashable, Sendable {
    package var place: MarkPlace
    /// The number of the round that the first element of `counts` belongs to.
    package var first: Int
    package var measure: RoundMeasure
    /// The number of objects or elements after each round.
    package var counts: [Int]
  }

  /// Growth between successive heap images of a running process.
  package struct ImageGrowth: Hashable, Sendable {
    package var images: Int
    /// The time in seconds from the first heap image to the last.
    package var seconds: Double
    /// Growth in the second half of that time, divided by the growth in the first half.
    package var lateShare: Double
    package var measure: RoundMeasure
    /// The minimum count in each part of that time.
    package var counts: [Int]
    package var strength: Strength
  }

  /// The quantity that is counted after each round.
  package enum RoundMeasure: String, Codable, Hashable, Sendable {
    case objects
    /// The elements of collections, as the collections count them.
    case elements
  }

  /// Something that calls the program back. It keeps the objects that it calls until the program ends the registration.
  package enum Registration: String, Codable, Hashable, Sendable {
    case timer, observer, observation, dispatchSource, fileHandle, dispatchWork, task, taskGroup, eventLoop, urlSession,
      thread
  }
}

extension Finding.Evidence {
  /// The kind of fault that the evidence shows.
  package var verdict: Verdict {
    switch self {
    case .unreachable(.cycle, _): .retainCycle
    case .unreachable(.lost, _): .lost
    case .unreachable(.suspended, _): .suspended
    case .deinitialised: .deinitialised
    case .dangling: .dangling
    case .suspected(let suspicion, _):
      switch suspicion.kind {
      case .outlived: .outlived
      case .accumulating: .accumulating
      }
    case .stated: .outlived
    case .repeated, .images: .growing
    }
  }

  package var certainty: Finding.Certainty {
    switch self {
    case .unreachable: isDoubtful ? .suspected : .proven
    case .deinitialised, .dangling, .stated, .repeated: .proven
    case .suspected, .images: .suspected
    }
  }

  /// True if the leak is doubtful, because the program has a number that it may turn into a reference again. A weak or
  /// unowned reference does not make a leak doubtful. The program can use the objects through such a reference, but
  /// they are leaked until it cuts the cycle, or releases the extra retain.
  package var isDoubtful: Bool {
    if case .unreachable(_, let way?) = self { way.kind == .number } else { false }
  }

  /// The weight of a suspicion. Nil for other findings, and in a digest of an earlier version.
  package var strength: Finding.Strength? {
    switch self {
    case .suspected(let suspicion, _): suspicion.figures?.strength
    case .images(let growth, _): growth.strength
    case .unreachable, .deinitialised, .dangling, .stated, .repeated: nil
    }
  }

  /// Whether the path of the finding leads back to its first object.
  package var isCycle: Bool {
    switch self {
    case .unreachable(.cycle, _), .unreachable(.suspended(.inCycle), _): true
    case .unreachable, .deinitialised, .dangling, .suspected, .stated, .repeated, .images: false
    }
  }

  /// The path that keeps reachable objects; nil for all others.
  package var retention: Finding.Retention? {
    switch self {
    case .unreachable, .deinitialised, .dangling: nil
    case .suspected(_, let survivors), .stated(_, let survivors): survivors.retention
    case .repeated(_, let retention, _), .images(_, let retention): retention
    }
  }

  /// The counts that show growth, oldest first; empty if there are none.
  package var growth: [Int] {
    switch self {
    case .unreachable, .deinitialised, .dangling: []
    case .suspected(_, let survivors), .stated(_, let survivors): survivors.quarters
    case .repeated(let rounds, _, _): rounds.counts
    case .images(let growth, _): growth.counts
    }
  }

  /// The objects that were made at the same sites; nil if they are no evidence.
  var siblings: Finding.Siblings? {
    switch self {
    case .unreachable, .deinitialised, .dangling, .images: nil
    case .suspected(_, let survivors), .stated(_, let survivors): survivors.siblings
    case .repeated(_, _, let siblings): siblings
    }
  }

  /// Changes the siblings of reachable objects, if they are known.
  mutating func updateSiblings(_ change: (inout Finding.Siblings) -> Void) {
    switch self {
    case .unreachable, .deinitialised, .dangling, .images: break
    case .suspected(let suspicion, var survivors):
      change(&survivors.siblings)
      self = .suspected(suspicion, survivors)
    case .stated(let statement, var survivors):
      change(&survivors.siblings)
      self = .stated(statement, survivors)
    case .repeated(let rounds, let retention, var siblings):
      change(&siblings)
      self = .repeated(rounds, retention, siblings)
    }
  }
}

extension Finding.Evidence {
  /// Takes the facts of one instance from evidence of the same cause: its reference counts, or its end.
  mutating func takeInstance(of other: Self) {
    switch (self, other) {
    case (.unreachable(.lost, let way), .unreachable(.lost(let count), _)):
      self = .unreachable(.lost(count), way: way)
    case (.deinitialised, .deinitialised), (.dangling, .dangling): self = other
    default: break
    }
  }
}

extension Finding.Survivors {
  /// Adds the objects of another group with the same cause.
  mutating func add(_ other: Self) {
    if let added = other.retention.ages {
      retention.ages =
        retention.ages.map {
          Finding.Ages(youngest: min($0.youngest, added.youngest), oldest: max($0.oldest, added.oldest))
        } ?? added
    }
    if quarters.count == other.quarters.count { quarters = zip(quarters, other.quarters).map { $0 + $1 } }
  }
}
