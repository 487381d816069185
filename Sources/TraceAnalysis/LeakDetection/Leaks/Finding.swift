// A leak as reports show it: named, grouped by cause, with what to do about it.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// One cause of leaked memory, with all its instances. A value without addresses in what identifies it.
package struct Finding: Codable, Hashable, Sendable {
  /// A reference from one step of a path to the next.
  package struct Reference: Codable, Hashable, Sendable {
    /// `viewModel`, `[]`, `[value]`, `self`; empty if there is no name for it.
    package var name: String
    package var strength: EdgeStrength
    package var isClosure: Bool
    /// A variable that a closure captured.
    package var isCapture: Bool
    /// A closure that has `self`, which is the next step, for its whole context.
    package var capturesSelf: Bool
    /// The function that a closure runs; for a closure without a context of its own its object is the next step itself.
    package var closure: SourceFrame?
    package var caseName: String?
    /// Of a dangling reference: the type that the field was declared with, without modules; nil if it is not a class's.
    package var referentType: String?
    /// Of a dangling reference: the class of the object that has the target's memory now, without modules; nil if the
    /// memory is free, and where the object's end is known.
    package var tenantType: String?
  }

  /// An object on a path.
  package struct Step: Codable, Hashable, Sendable {
    package var kind: NodeKind
    /// Without modules: `ViewModel`, `[Node]`, `closure`.
    package var type: String
    package var qualifiedType: String
    /// For closures what they run, for tasks where they are suspended.
    package var function: SourceFrame?
    /// The program's innermost frame that made it, initialisers of its own type left out.
    package var allocation: SourceFrame?
    package var stack: StackID
    /// The shown instance's address.
    package var address: RuntimeAddress
    package var size: ByteCount
    /// To the next step; in a cycle the last one's leads to the first.
    package var reference: Reference?
    /// All fields of its type that hold references; none if they are not known.
    package var fields: [String] = []
    /// The program's own function that had it made, where `allocation` is a package's.
    package var ownAllocation: SourceFrame? = nil
    /// Of a task: the program's own function that it waits in, where `function` is a package's.
    package var ownFunction: SourceFrame? = nil
    /// The library that has it for itself: a package by its name, or a part of the platform. Nil for what is the
    /// program's.
    package var library: String? = nil
    /// Of a row that is too long to be shown: how many steps between the one before and this one are left out.
    package var omittedBefore: Int? = nil
    /// It was allocated before the recording began, so that nobody saw where.
    package var isFromBefore: Bool? = nil

    /// The program's line that had it made, as far as is known; else a library's.
    package var place: SourceFrame? { ownAllocation ?? allocation }
    /// The function that it runs or waits in, of the program's own if there is one.
    package var code: SourceFrame? { ownFunction ?? function }
  }

  /// The origin of instances: the program's line that made the object that the finding is titled by.
  package struct Place: Codable, Hashable, Sendable {
    /// The program's innermost frame that made it, initialisers of its own type left out.
    package var allocation: SourceFrame?
    /// The program's own function that had it made, where `allocation` is a package's.
    package var ownAllocation: SourceFrame? = nil
    package var stack: StackID
    package var instances: Int
    /// The memory that would be freed with the instances from here, and its number of blocks.
    package var retainedBytes: ByteCount
    package var retainedBlocks: UInt64
    /// Sizes of the object itself.
    package var smallest: ByteCount
    package var largest: ByteCount
    /// The objects of an instance from here; empty if that is the finding's own path.
    package var path: [Step] = []

    /// The program's line that had them made, as far as is known; else a library's.
    package var place: SourceFrame? { ownAllocation ?? allocation }
  }

  package struct HeldType: Codable, Hashable, Sendable {
    package var name: String
    package var count: UInt64
    package var bytes: ByteCount
  }

  /// The reasons why an object that something still holds should be gone.
  package struct Outliving: Codable, Hashable, Sendable {
    /// Set if the program itself said that it should be gone, or if it was seen to grow.
    package var statement: Statement?
    /// The heap image that the path was found in, if it is not the report's own: that of the moment of an expectation.
    package var snapshot: UInt32?
    /// The beginning of the path.
    package var origin: PathOrigin
    /// The holder, in the program's terms: `static Cache.entries`, `RunLoop timer`, `task started in Session.start()`.
    package var holder: String
    /// The program's own field or variable that leads there, where `holder` is a field of a library's object.
    package var ownHolder: String? = nil
    /// The kind of that registration; nil for the program's own collections and fields.
    package var registration: Registration?
    /// Several functions make such objects. Nil in a digest of an earlier version.
    package var isMadeInSeveralPlaces: Bool? = nil
    /// Index in the path of the object that the suspect reference leads to; 0 where that is the root's own.
    package var suspect: Int
    /// All objects made at its site, and how many of them have ended.
    package var births: UInt64
    package var deaths: UInt64
    /// The function within which nearly all that ended did so; nil if no call of the program's is left by then.
    package var scope: SourceFrame?
    /// Percent of those that ended which ended there.
    package var scopeShare: Int
    /// Seconds: an upper bound of what nine in ten siblings lived.
    package var siblingLifetime: Double?
    /// Seconds.
    package var youngest: Double?
    package var oldest: Double?
    /// Of the shown objects, how many had been made after each quarter of the process's events from the first to the
    /// snapshot. Empty for fewer than eight.
    /// Of what grows with each round, how many there were after each.
    package var growth: [Int]
    /// The evidence for a suspicion; nil if the program itself said that the object should be gone.
    package var evidence: Evidence?
  }

  /// The figures behind a suspicion.
  package struct Evidence: Codable, Hashable, Sendable {
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

  /// Scopes and expectations that makes an object one that should be gone.
  package enum Statement: Codable, Hashable, Sendable {
    /// Made in a scope, and there when its grace had passed, after so many of its executions.
    case scope(MarkPlace, executions: UInt64, executionsWithRest: UInt64, grace: Double?)
    /// Expected to be deallocated: how many were in time, late and still there, and the longest delay in seconds.
    case expectation(MarkPlace, met: UInt64, late: UInt64, violated: UInt64, longestDelay: Double?)
    /// Work that was done several times over, from outside if the place is empty. `Outliving.growth` has what there was
    /// after each round from `firstRound` on.
    case repetition(MarkPlace, firstRound: Int, of: RoundMeasure)
    /// No statement of the program's: so many images of the process, taken over so many seconds, have more and more.
    /// `lateShare`: growth of the second half of that time as a part of that of the first. `Outliving.growth` has the
    /// least number of each part of that time.
    case images(Int, seconds: Double, lateShare: Double, of: RoundMeasure)
  }

  /// The quantity that is counted after each round.
  package enum RoundMeasure: String, Codable, Hashable, Sendable {
    case objects
    /// Of collections, by their own counts.
    case elements
  }

  /// Something that calls the program back, and keeps what it calls until it is told to stop.
  package enum Registration: String, Codable, Hashable, Sendable {
    case timer, observer, observation, dispatchSource, dispatchWork, task, eventLoop, urlSession, thread
  }

  /// A way to objects that no reference keeps: the program may still use them by it.
  package struct Way: Codable, Hashable, Sendable {
    package enum Kind: String, Codable, Hashable, Sendable { case number, weak, unowned }
    package var kind: Kind
    /// The place of the number or reference: `Registry.observers`, `[Int : UInt]`, a variable.
    package var holder: String
  }

  package var verdict: Verdict
  /// Set for a suspended task outside of a cycle, if the image tells.
  package var taskWait: TaskWait? = nil
  /// Set if the program may still use it: by a number, so that it is no proof, or by a reference that does not keep it.
  package var way: Way? = nil
  /// Set if it was made and is held inside the platform's libraries alone: why it is not the program's.
  package var libraryReason: String?
  /// Nobody saw who asked for the memory: it may be the program's or a library's. `libraryReason` says so, and it counts
  /// as a library's, which accuses nobody.
  package var hasUnknownOwner = false
  package var isCycle: Bool
  package var instances: Int
  package var retainedBytes: ByteCount
  package var retainedBlocks: UInt64
  /// The objects of one instance, in order: one from the first of `places`.
  package var path: [Step]
  /// All places that instances come from, those with the most instances first; empty if the objects themselves are
  /// gone, or are reachable.
  package var places: [Place] = []
  /// Its subject, where its objects are closures, tasks or a library's; nil if they are the program's own, or if they
  /// keep nothing of the program's.
  package var subject: Subject? = nil
  /// The objects that the shown instance keeps besides its path, by type, most bytes first.
  package var held: [HeldType]
  /// Each instance keeps as much, of the same types.
  package var isHeldByEach: Bool = true
  /// The objects that hang from several of the instances and from nothing else, by type, most bytes first; nil if there
  /// are none.
  package var heldTogether: [HeldType]?
  /// For a lost object its strong references by count, and how many of them are accounted for.
  package var referenceCount: ReferenceCount?
  /// Of `dangling` findings: how the object ended that is referred to, or was used after that; nil if the trace does
  /// not show it.
  package var ending: Ending?
  /// Of what outlived its scope, or accumulates.
  package var outliving: Outliving?
  package var advice: [String]
  /// Equal for equal causes, in this run and in others of the same or another build.
  package var fingerprint: String
  /// The pattern that hides it.
  package var suppression: String?
  /// The stacks that allocated its instances, those with most instances first; not all if there are very many.
  package var stacks: [StackShare] = []
  /// The tests that were running then, as far as that is known.
  package var tests: [TestShare] = []
  /// Of a light trace: where those of its instances were made that were sampled; those with most first.
  package var samples: [SampledPlace] = []

  package var isLibrary: Bool { libraryReason != nil }

  /// `libraryReason` of what has no known owner.
  package static let unknownOwner = "no stack says who asked for it, and libraries lose memory, too"

  /// The certainty of the finding: proven or suspected.
  package var certainty: Certainty {
    if isDoubtful { return .suspected }
    return switch outliving?.statement {
    case nil: verdict.certainty
    case .images: .suspected
    case .scope, .expectation, .repetition: .proven
    }
  }

  /// Tells whether the program may make a reference again of a number that it has. By a weak reference it can use the
  /// objects, and they are leaked all the same until it cuts the cycle, or gives back the reference too many.
  package var isDoubtful: Bool { way?.kind == .number }

  /// A suspicion that is listed on demand only.
  package var isWeak: Bool { certainty == .suspected && outliving?.evidence?.strength == .weak }
}

extension Verdict {
  /// The certainty if the program itself says nothing.
  package var certainty: Finding.Certainty {
    switch self {
    case .retainCycle, .lost, .deinitialised, .suspended, .dangling, .growing: .proven
    case .outlived, .accumulating: .suspected
    }
  }
}

extension Finding {
  /// Digests of earlier versions know of no places.
  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      verdict: try fields.decode(Verdict.self, forKey: .verdict),
      taskWait: try fields.decodeIfPresent(TaskWait.self, forKey: .taskWait),
      way: try fields.decodeIfPresent(Way.self, forKey: .way),
      libraryReason: try fields.decodeIfPresent(String.self, forKey: .libraryReason),
      hasUnknownOwner: try fields.decodeIfPresent(Bool.self, forKey: .hasUnknownOwner) ?? false,
      isCycle: try fields.decode(Bool.self, forKey: .isCycle),
      instances: try fields.decode(Int.self, forKey: .instances),
      retainedBytes: try fields.decode(ByteCount.self, forKey: .retainedBytes),
      retainedBlocks: try fields.decode(UInt64.self, forKey: .retainedBlocks),
      path: try fields.decode([Step].self, forKey: .path),
      places: try fields.decodeIfPresent([Place].self, forKey: .places) ?? [],
      subject: try fields.decodeIfPresent(Subject.self, forKey: .subject),
      held: try fields.decode([HeldType].self, forKey: .held),
      isHeldByEach: try fields.decodeIfPresent(Bool.self, forKey: .isHeldByEach) ?? true,
      heldTogether: try fields.decodeIfPresent([HeldType].self, forKey: .heldTogether),
      referenceCount: try fields.decodeIfPresent(ReferenceCount.self, forKey: .referenceCount),
      ending: try fields.decodeIfPresent(Ending.self, forKey: .ending),
      outliving: try fields.decodeIfPresent(Outliving.self, forKey: .outliving),
      advice: try fields.decode([String].self, forKey: .advice),
      fingerprint: try fields.decode(String.self, forKey: .fingerprint),
      suppression: try fields.decodeIfPresent(String.self, forKey: .suppression),
      stacks: try fields.decodeIfPresent([StackShare].self, forKey: .stacks) ?? [],
      tests: try fields.decodeIfPresent([TestShare].self, forKey: .tests) ?? [],
      samples: try fields.decodeIfPresent([SampledPlace].self, forKey: .samples) ?? [])
  }
}

extension Finding {
  /// The place where the program stated the expectation that it breaks, if it does.
  package var expectation: MarkPlace? {
    if case .expectation(let place, _, _, _, _)? = outliving?.statement { place } else { nil }
  }

  /// The number of instances as one run compares with another.
  package var comparableInstances: UInt64 {
    // The image was taken when the first of them was due: how many of the others were in it is chance.
    if case .expectation(_, _, _, let violated, _)? = outliving?.statement { return violated }
    return UInt64(instances)
  }
  /// The program's line that its objects come from, as far as that is known.
  package var origin: SourceFrame? {
    places.first?.place ?? (outliving == nil ? path.first : path.last)?.place
  }
}

extension Finding {
  /// It was concluded from what several images of a process have.
  package var isFromImages: Bool { if case .images? = outliving?.statement { true } else { false } }
}
