// What changed between two builds, as a value: matched, judged and sorted, nothing formatted.

/// A quantity that two builds are compared by.
public enum Figure: String, CaseIterable, Codable, Hashable, Sendable {
  case liveBytes, liveBlocks, peakBytes, allocatedBytes, allocatedBlocks, temporaryBlocks, retains, releases
  /// Of a finding.
  case instances, retainedBytes
  /// Of a finding: objects that came to stay after the first quarter of the work (events) from the first to the snapshot.
  case growth

  public var isBytes: Bool { [.liveBytes, .peakBytes, .allocatedBytes, .retainedBytes].contains(self) }

  /// Those of sites, types and whole programs.
  public static let ofAllocations: [Figure] = [
    .liveBytes, .liveBlocks, .peakBytes, .allocatedBytes, .allocatedBlocks, .temporaryBlocks, .retains, .releases,
  ]
  public static let ofFindings: [Figure] = [.instances, .retainedBytes, .growth]
}

/// The values of a figure in the runs of one side.
public struct Spread: Hashable, Sendable {
  public var lowest: Double
  public var median: Double
  public var highest: Double
}

/// A figure on both sides.
public struct FigureChange: Hashable, Sendable {
  public enum Direction: Hashable, Sendable { case worse, better, same }

  public var figure: Figure
  public var old: Spread
  public var new: Spread
  /// What the new median would be had nothing changed: the old one, or with `--per` the old one for the new amount of work.
  public var expected: Double
  /// `same` if the difference lies within the spread or the tolerance.
  public var direction: Direction

  public var difference: Double { new.median - expected }
  /// Part of what was expected; nil if that is nothing.
  public var ratio: Double? { expected > 0 ? new.median / expected : nil }
}

/// How something on one side was found on the other.
public enum DiffMatch: Hashable, Sendable {
  /// Equal in all that identifies it.
  case exact
  /// Equal but for names that changed throughout.
  case renamed([DiffRename])
  /// Alike, and nothing else is more so: what differs, in words.
  case likeness([String])
}

/// A name that has taken another's place wherever that stood.
public struct DiffRename: Hashable, Comparable, Sendable {
  public var old: String
  public var new: String

  public static func < (a: Self, b: Self) -> Bool { (a.old, a.new) < (b.old, b.new) }
}

/// What has become of a finding, type or site.
public enum DiffKind: String, CaseIterable, Hashable, Sendable {
  case new, worse, better, gone
}

/// A finding that is not as it was.
public struct FindingChange: Hashable, Sendable {
  public var kind: DiffKind
  /// nil for new ones.
  public var old: Finding?
  /// nil for those that are gone.
  public var new: Finding?
  /// nil for new ones and those that are gone.
  public var match: DiffMatch?
  /// All figures of findings, those that did not change included.
  public var figures: [FigureChange]
  /// Runs of each side in which it was found.
  public var oldRuns: Int
  public var newRuns: Int

  /// The one to show.
  public var finding: Finding { (new ?? old)! }
}

/// A frame of a site, as both sides name it.
public struct DiffFrame: Codable, Hashable, Sendable {
  public var function: String
  /// Without numbers and marks that change with code elsewhere.
  public var stableName: String
  /// Of its mangled name; 0 if it has none. See `SymbolHash`.
  public var symbol: UInt32 = 0
  /// It is not the program's, but the only kind there is on its stack.
  public var isPlatform = false
  public var file: String?
  public var line: Int?
}

/// A type or an allocation site that is not as it was.
public struct AllocationChange: Hashable, Sendable {
  public var kind: DiffKind
  /// The type's name, or that of the function that allocated; the new one.
  public var name: String
  public var oldName: String?
  /// Innermost first; empty for types.
  public var frames: [DiffFrame]
  public var match: DiffMatch?
  /// All figures of allocations.
  public var figures: [FigureChange]
  /// The largest change's part of the whole program's figure, from 0 to 1.
  public var weight: Double

  public var changes: [FigureChange] { figures.filter { $0.direction != .same } }
}

/// Changes of one sort, largest first, and how many have none.
public struct DiffSection<Change: Hashable & Sendable>: Hashable, Sendable {
  public var changes: [Change]
  public var unchanged: Int
  /// Of these, those that were matched by likeness or other names.
  public var moved: Int
  /// Of the unchanged, findings that were met in some runs only.
  public var unsteady: Int

  public subscript(kind: DiffKind) -> [Change] where Change == FindingChange { changes.filter { $0.kind == kind } }
  public subscript(kind: DiffKind) -> [Change] where Change == AllocationChange { changes.filter { $0.kind == kind } }
}

/// The runs of one build.
public struct DiffSide: Hashable, Sendable {
  public struct Run: Hashable, Sendable {
    public var path: String
    public var events: UInt64
    /// By the unit that was asked for; 1 if none was.
    public var work: Double
  }
  public var program: String
  public var runs: [Run]
}

/// Everything that `leaktrace diff` has to say.
public struct DiffReport: Sendable {
  /// By what figures were made comparable.
  public enum Unit: Hashable, Sendable {
    case run
    case events
    case scope(String)
  }

  public var old: DiffSide
  public var new: DiffSide
  public var unit: Unit
  /// Of the whole program, all figures of allocations; nil in those that one side did not record.
  public var totals: [FigureChange]
  /// nil if a side has no heap image: then `findingsUnavailable` says why.
  public var findings: DiffSection<FindingChange>?
  public var findingsUnavailable: String?
  public var types: DiffSection<AllocationChange>
  public var sites: DiffSection<AllocationChange>
  public var renames: [DiffRename]
  /// What a reader has to know to judge the changes, in sentences.
  public var remarks: [String]

  /// Findings as gates and machine-readable reports see them: all of the new build, unchanged ones as known.
  public var judged: [JudgedFinding]
}
