// The evidence of a finding: facts about its objects, and conclusions from these facts.

import HeapAnalysis
import TraceReading
import TraceSymbolication

extension Finding {
  /// The reason why the objects of a finding should be gone. Each case has the facts of its kind, and no others.
  package enum Evidence: Hashable, Sendable {
    /// No reference that keeps the objects leads to them. `way`: how the program may still use them.
    case unreachable(Unreachable, way: Way?)
    /// The object's deinit has run, and unowned references keep its memory. The counts are nil if they are not known.
    case deinitialised(ReferenceCount?)
    /// A reference leads to an object that has ended, or code used the object after that. Nil if the trace does not
    /// show the end.
    case dangling(Ending?)
    /// The objects are reachable. What became of others that the same code made lets one suspect them.
    case suspected(Suspicion, Survivors)
    /// The objects are reachable. The program said that they should be gone.
    case stated(Statement, Survivors)
    /// The objects are reachable. Repeated work left more of them after each round.
    case repeated(Rounds, Retention, Siblings)
    /// The objects are reachable. Images of the running process have more and more of them.
    case images(ImageGrowth, Retention)
  }

  /// The kinds of memory that nothing reaches.
  package enum Unreachable: Hashable, Sendable {
    /// The objects hold one another.
    case cycle
    /// Nothing refers to the object. The counts are nil if they are not known, and for memory that is not counted.
    case lost(ReferenceCount?)
    /// A task waits for what nothing can bring about.
    case suspended(Suspension)
  }

  /// The reason why nothing resumes a task.
  package enum Suspension: Hashable, Sendable {
    /// The task is a part of a cycle. Only the task keeps the thing that could resume it.
    case inCycle
    /// The task is on no cycle. Nil if the image does not show the kind of its wait.
    case alone(TaskWait?)
  }

  /// A way to objects that no reference keeps: the program may still use them by it.
  package struct Way: Codable, Hashable, Sendable {
    package enum Kind: String, Codable, Hashable, Sendable { case number, weak, unowned }
    package var kind: Kind
    /// The place of the number or reference: `Registry.observers`, `[Int : UInt]`, a variable.
    package var holder: String
  }

  /// The path from a root to a reachable object, as far as all objects of the finding share it.
  package struct Retention: Hashable, Sendable {
    /// The beginning of the path.
    package var origin: PathOrigin
    /// The holder, in the program's terms: `static Cache.entries`, `RunLoop timer`, `task started in Session.start()`.
    package var holder: String
    /// The program's own field or variable that leads there, where `holder` is a field of a library's object.
    package var ownHolder: String? = nil
    /// The kind of that registration; nil for the program's own collections and fields.
    package var registration: Registration?
    /// No other code can end these registrations, or has read the results that they keep. Nil if that is not known.
    package var isBeyondReach: Bool? = nil
    /// The program's function that let go of an object, which a task of the object's own still keeps. Nil if that is not
    /// the evidence.
    package var letGo: SourceFrame? = nil
    /// Several functions make such objects. Nil in a digest of an earlier version.
    package var isMadeInSeveralPlaces: Bool? = nil
    /// Index in the path of the object that the suspect reference leads to; 0 where that is the root's own.
    package var suspect: Int
    /// The heap image that the path was found in; nil for the report's own.
    package var snapshot: UInt32? = nil
    /// Nil if the clock's rate is unknown.
    package var ages: Ages?
  }

  /// The time that the shown objects have lived, in seconds.
  package struct Ages: Hashable, Sendable {
    package var youngest: Double
    package var oldest: Double
  }

  /// All objects that were made at the same sites, the shown ones among them.
  package struct Siblings: Hashable, Sendable {
    package var births: UInt64
    /// The number of those that have ended.
    package var deaths: UInt64
    /// The function within which nearly all that ended did so; nil if no call of the program's is left by then.
    package var scope: SourceFrame?
    /// Percent of those that ended which ended there.
    package var scopeShare: Int
    /// Seconds: an upper bound of what nine in ten lived; nil if none ended.
    package var lifetime: Double?
  }

  /// Objects that are still held, beside what became of others.
  package struct Survivors: Hashable, Sendable {
    package var retention: Retention
    package var siblings: Siblings
    /// The number of the shown objects that had been made after each quarter of the process's events from the first of
    /// them to the snapshot. Empty for fewer than eight.
    package var quarters: [Int]
  }

  /// A conclusion from what became of siblings.
  package struct Suspicion: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
      /// The siblings have ended, and these have not.
      case outlived
      /// The objects become more and more.
      case accumulating
    }

    package var kind: Kind
    /// Nil in a digest of an earlier version.
    package var figures: Figures?
  }

  /// The figures behind a suspicion.
  package struct Figures: Codable, Hashable, Sendable {
    package var strength: Strength
    /// Probability that chance keeps so many siblings for so long; nil if no siblings ended.
    package var chance: Double?
    /// Seconds: the longest life of a sibling that ended; nil if none did.
    package var longestLifetime: Double?
    /// All live objects that were made by the same code, after each quarter of the process's events from the first of
    /// them to the snapshot.
    package var live: [UInt64]
  }

  /// The weight of a suspicion.
  package enum Strength: String, Codable, Hashable, Sendable {
    /// Worth a look at each.
    case strong
    /// May well be chance or purpose: counted, and listed on demand.
    case weak
  }

  /// The degree of certainty that something is wrong.
  package enum Certainty: String, Codable, Hashable, Sendable {
    /// Memory or the program's own word shows it.
    case proven
    /// Concluded from what became of other objects.
    case suspected
  }

  /// A statement of the program that an object should be gone.
  package enum Statement: Hashable, Sendable {
    case scope(ScopeRest)
    case expectation(BrokenExpectation)
  }

  /// A scope that left objects behind when its grace had passed.
  package struct ScopeRest: Hashable, Sendable {
    package var place: MarkPlace
    package var executions: UInt64
    /// The number of executions that left something behind.
    package var executionsWithRest: UInt64
    /// Seconds; nil if the clock's rate is unknown.
    package var grace: Double?
  }

  /// Objects that were expected to be deallocated.
  package struct BrokenExpectation: Hashable, Sendable {
    package var place: MarkPlace
    /// The number of objects that ended in time.
    package var met: UInt64
    package var late: UInt64
    /// The number of objects that are still there.
    package var violated: UInt64
    /// Seconds; nil if none was late.
    package var longestDelay: Double?
  }

  /// Work that was done several times over, from outside if the place is empty.
  package struct Rounds: Hashable, Sendable {
    package var place: MarkPlace
    /// The number of the round that the first of `counts` belongs to.
    package var first: Int
    package var measure: RoundMeasure
    /// The number of objects or elements after each round.
    package var counts: [Int]
  }

  /// Growth from image to image of a running process.
  package struct ImageGrowth: Hashable, Sendable {
    package var images: Int
    /// The time over which the images were taken.
    package var seconds: Double
    /// Growth of the second half of that time, divided by the growth of the first half.
    package var lateShare: Double
    package var measure: RoundMeasure
    /// The least number in each part of that time.
    package var counts: [Int]
    package var strength: Strength
  }

  /// The quantity that is counted after each round.
  package enum RoundMeasure: String, Codable, Hashable, Sendable {
    case objects
    /// Of collections, by their own counts.
    case elements
  }

  /// Something that calls the program back. It keeps the objects that it calls until the program stops it.
  package enum Registration: String, Codable, Hashable, Sendable {
    case timer, observer, observation, dispatchSource, fileHandle, dispatchWork, task, taskGroup, eventLoop, urlSession,
      thread
  }
}

extension Finding.Evidence {
  /// The kind of fault that it shows.
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

  /// The program may make a reference again of a number that it has. By a weak reference it can use the objects, and
  /// they are leaked all the same until it cuts the cycle, or gives back the reference too many.
  package var isDoubtful: Bool {
    if case .unreachable(_, let way?) = self { way.kind == .number } else { false }
  }

  /// The weight of a suspicion. Nil for proofs and doubtful proofs, and in a digest of an earlier version.
  package var strength: Finding.Strength? {
    switch self {
    case .suspected(let suspicion, _): suspicion.figures?.strength
    case .images(let growth, _): growth.strength
    case .unreachable, .deinitialised, .dangling, .stated, .repeated: nil
    }
  }

  /// The path of a finding leads back to its first object.
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

  /// The counts that show growth, oldest first; empty where there are none.
  package var growth: [Int] {
    switch self {
    case .unreachable, .deinitialised, .dangling: []
    case .suspected(_, let survivors), .stated(_, let survivors): survivors.quarters
    case .repeated(let rounds, _, _): rounds.counts
    case .images(let growth, _): growth.counts
    }
  }

  /// The objects that were made at the same sites; nil where that says nothing.
  var siblings: Finding.Siblings? {
    switch self {
    case .unreachable, .deinitialised, .dangling, .images: nil
    case .suspected(_, let survivors), .stated(_, let survivors): survivors.siblings
    case .repeated(_, _, let siblings): siblings
    }
  }

  /// Changes the siblings of reachable objects, where they are known.
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
  /// Takes the facts that are one instance's own from evidence of the same cause: its counts, or how it ended.
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
  /// Adds objects of the same cause that another group has.
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
