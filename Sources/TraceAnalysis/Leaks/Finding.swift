// A leak as a person is told of it: named, grouped by cause, with what to do about it.

/// One cause of leaked memory, with all its instances. A value without addresses in what identifies it.
public struct Finding: Codable, Hashable, Sendable {
  /// A reference from one step of a path to the next.
  public struct Reference: Codable, Hashable, Sendable {
    /// `viewModel`, `[]`, `[value]`, `self`; empty if there is no name for it.
    public var name: String
    public var strength: EdgeStrength
    public var isClosure: Bool
    /// A variable that a closure captured.
    public var isCapture: Bool
    /// A closure that has `self`, which is the next step, for its whole context.
    public var capturesSelf: Bool
    /// The function that a closure runs; for a closure without a context of its own its object is the next step itself.
    public var closure: SourceFrame?
    public var caseName: String?
    /// Of a dangling reference: the type that the field was declared with, without modules; nil if it is not a class's.
    public var referentType: String?
  }

  /// An object on a path.
  public struct Step: Codable, Hashable, Sendable {
    public var kind: NodeKind
    /// Without modules: `ViewModel`, `[Node]`, `closure`.
    public var type: String
    public var qualifiedType: String
    /// For closures what they run, for tasks where they are suspended.
    public var function: SourceFrame?
    /// The program's innermost frame that made it, initialisers of its own type left out.
    public var allocation: SourceFrame?
    public var stack: StackID
    /// Where the shown instance stood.
    public var address: RuntimeAddress
    public var size: ByteCount
    /// To the next step; in a cycle the last one's leads to the first.
    public var reference: Reference?
    /// All fields of its type that hold references; none if they are not known.
    public var fields: [String] = []
  }

  /// Where instances come from: the program's line that made the object that the finding is titled by.
  public struct Place: Codable, Hashable, Sendable {
    /// The program's innermost frame that made it, initialisers of its own type left out.
    public var allocation: SourceFrame?
    public var stack: StackID
    public var instances: Int
    /// What would be freed with the instances from here, and how many blocks that is.
    public var retainedBytes: ByteCount
    public var retainedBlocks: UInt64
    /// Sizes of the object itself.
    public var smallest: ByteCount
    public var largest: ByteCount
    /// The objects of an instance from here; empty if that is the finding's own path.
    public var path: [Step] = []
  }

  public struct HeldType: Codable, Hashable, Sendable {
    public var name: String
    public var count: UInt64
    public var bytes: ByteCount
  }

  /// Why an object that something still holds should be gone.
  public struct Outliving: Codable, Hashable, Sendable {
    /// Set if the program itself said that it should be gone.
    public var statement: Statement?
    /// The heap image that the path was found in, if it is not the report's own: that of the moment of an expectation.
    public var snapshot: UInt32?
    /// What the path begins with.
    public var origin: PathOrigin
    /// Who does not let go, in the program's terms: `static Cache.entries`, `RunLoop timer`, `task started in Session.start()`.
    public var holder: String
    /// What kind of registration that is; nil for the program's own collections and fields.
    public var registration: Registration?
    /// Several functions make such objects. Nil in a digest of an earlier version.
    public var isMadeInSeveralPlaces: Bool? = nil
    /// Index in the path of the object that the suspect reference leads to; 0 where that is the root's own.
    public var suspect: Int
    /// All objects made at its site, and how many of them have ended.
    public var births: UInt64
    public var deaths: UInt64
    /// The function within which nearly all that ended did so; nil if no call of the program's is left by then.
    public var scope: SourceFrame?
    /// Percent of those that ended which ended there.
    public var scopeShare: Int
    /// Seconds: an upper bound of what nine in ten siblings lived.
    public var siblingLifetime: Double?
    /// Seconds.
    public var youngest: Double?
    public var oldest: Double?
    /// Of the shown objects, how many had been made after each quarter of the process's events from the first to the snapshot. Empty for fewer than eight.
    /// Of what grows with each round, how many there were after each.
    public var growth: [Int]
    /// What speaks for a suspicion; nil where the program itself said that the object should be gone.
    public var evidence: Evidence?
  }

  /// The figures behind a suspicion.
  public struct Evidence: Codable, Hashable, Sendable {
    public var strength: Strength
    /// Probability that chance keeps so many siblings for so long; nil where no siblings ended.
    public var chance: Double?
    /// Seconds: the longest life of a sibling that ended; nil if none did.
    public var longestLifetime: Double?
    /// All live objects that were made by the same code, after each quarter of the process's events from the first of them to the snapshot.
    public var live: [UInt64]
  }

  /// How much a suspicion is worth.
  public enum Strength: String, Codable, Hashable, Sendable {
    /// Worth a look at each.
    case strong
    /// May well be chance or purpose: counted, and listed on demand.
    case weak
  }

  /// How sure it is that something is wrong.
  public enum Certainty: String, Codable, Hashable, Sendable {
    /// Memory or the program's own word shows it.
    case proven
    /// Concluded from what became of other objects.
    case suspected
  }

  /// What the program said that makes an object one that should be gone.
  public enum Statement: Codable, Hashable, Sendable {
    /// Made in a scope, and there when its grace had passed, after so many of its executions.
    case scope(MarkPlace, executions: UInt64, executionsWithRest: UInt64, grace: Double?)
    /// Expected to be gone: how many were in time, late and still there, and the longest delay in seconds.
    case expectation(MarkPlace, met: UInt64, late: UInt64, violated: UInt64, longestDelay: Double?)
    /// Work that was done several times over, from outside if the place is empty. `Outliving.growth` has what there was after each round from `firstRound` on.
    case repetition(MarkPlace, firstRound: Int, of: RoundMeasure)
  }

  /// What is counted after each round.
  public enum RoundMeasure: String, Codable, Hashable, Sendable {
    case objects
    /// Of collections, by their own counts.
    case elements
  }

  /// Something that calls the program back, and keeps what it calls until it is told to stop.
  public enum Registration: String, Codable, Hashable, Sendable {
    case timer, observer, dispatchSource, dispatchWork, task, eventLoop, urlSession, thread
  }

  public var verdict: Verdict
  /// Set if it was made and is held inside the platform's libraries alone: why it is not the program's.
  public var libraryReason: String?
  public var isCycle: Bool
  public var instances: Int
  public var retainedBytes: ByteCount
  public var retainedBlocks: UInt64
  /// The objects of one instance, in order: one from the first of `places`.
  public var path: [Step]
  /// All places that instances come from, those with the most instances first; empty where the objects themselves are gone, or are reachable.
  public var places: [Place] = []
  /// What the shown instance keeps besides its path, by type, most bytes first.
  public var held: [HeldType]
  /// Each instance keeps as much, of the same types.
  public var isHeldByEach: Bool = true
  /// What hangs from several of the instances and from nothing else, by type, most bytes first; nil if there is nothing of it.
  public var heldTogether: [HeldType]?
  /// For a lost object its strong references by count, and how many of them are accounted for.
  public var referenceCount: ReferenceCount?
  /// Of `dangling` findings: how the object ended that is referred to, or was used after that; nil if the trace does not show it.
  public var ending: Ending?
  /// Of what outlived its scope, or accumulates.
  public var outliving: Outliving?
  public var advice: [String]
  /// Equal for equal causes, in this run and in others of the same or another build.
  public var fingerprint: String
  /// The pattern that hides it.
  public var suppression: String?

  public var isLibrary: Bool { libraryReason != nil }

  /// Whether it is a proof or a suspicion.
  public var certainty: Certainty { outliving?.statement == nil ? verdict.certainty : .proven }

  /// A suspicion that is listed on demand only.
  public var isWeak: Bool { certainty == .suspected && outliving?.evidence?.strength == .weak }
}

extension Verdict {
  /// How sure it is where the program itself says nothing.
  public var certainty: Finding.Certainty {
    switch self {
    case .retainCycle, .lost, .deinitialised, .suspended, .dangling, .growing: .proven
    case .outlived, .accumulating: .suspected
    }
  }
}

extension Finding {
  /// Digests of earlier versions know of no places.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      verdict: try fields.decode(Verdict.self, forKey: .verdict), libraryReason: try fields.decodeIfPresent(String.self, forKey: .libraryReason),
      isCycle: try fields.decode(Bool.self, forKey: .isCycle), instances: try fields.decode(Int.self, forKey: .instances),
      retainedBytes: try fields.decode(ByteCount.self, forKey: .retainedBytes), retainedBlocks: try fields.decode(UInt64.self, forKey: .retainedBlocks),
      path: try fields.decode([Step].self, forKey: .path), places: try fields.decodeIfPresent([Place].self, forKey: .places) ?? [],
      held: try fields.decode([HeldType].self, forKey: .held), isHeldByEach: try fields.decodeIfPresent(Bool.self, forKey: .isHeldByEach) ?? true,
      heldTogether: try fields.decodeIfPresent([HeldType].self, forKey: .heldTogether),
      referenceCount: try fields.decodeIfPresent(ReferenceCount.self, forKey: .referenceCount), ending: try fields.decodeIfPresent(Ending.self, forKey: .ending),
      outliving: try fields.decodeIfPresent(Outliving.self, forKey: .outliving), advice: try fields.decode([String].self, forKey: .advice),
      fingerprint: try fields.decode(String.self, forKey: .fingerprint), suppression: try fields.decodeIfPresent(String.self, forKey: .suppression))
  }
}
