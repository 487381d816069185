// The changes between two builds, as a value: matched, judged and sorted, nothing formatted.

import LeakDetection
import LeakGates

/// A quantity that two builds are compared by.
package enum Figure: String, CaseIterable, Codable, Hashable, Sendable {
  case liveBytes, liveBlocks, peakBytes, allocatedBytes, allocatedBlocks, temporaryBlocks, retains, releases
  /// Of a finding.
  case instances, retainedBytes
  /// Of a finding: objects that came to stay after the first quarter of the work (events) from the first to the
  /// snapshot.
  case growth

  package var isBytes: Bool { [.liveBytes, .peakBytes, .allocatedBytes, .retainedBytes].contains(self) }

  /// Those of sites, types and whole programs.
  package static let ofAllocations: [Figure] = [
    .liveBytes, .liveBlocks, .peakBytes, .allocatedBytes, .allocatedBlocks, .temporaryBlocks, .retains, .releases,
  ]
  package static let ofFindings: [Figure] = [.instances, .retainedBytes, .growth]
}

/// The values of a figure in the runs of one side.
package struct Spread: Hashable, Sendable {
  package var lowest: Double
  package var median: Double
  package var highest: Double
}

/// A figure on both sides.
package struct FigureChange: Hashable, Sendable {
  package enum Direction: Hashable, Sendable { case worse, better, same }

  package var figure: Figure
  package var old: Spread
  package var new: Spread
  /// The new median if nothing had changed: the old one, or with `--per` the old one for the new amount of work.
  package var expected: Double
  /// `same` if the difference lies within the spread or the tolerance.
  package var direction: Direction

  package var difference: Double { new.median - expected }
  /// Part of what was expected; nil if that is nothing.
  package var ratio: Double? { expected > 0 ? new.median / expected : nil }
}

/// The way in which something on one side was found on the other.
package enum DiffMatch: Hashable, Sendable {
  /// Equal in all that identifies it.
  case exact
  /// Equal but for names that changed throughout.
  case renamed([DiffRename])
  /// Alike, and nothing else is more so: what differs, in words.
  case likeness([String])
}

/// A name that has taken another's place wherever that stood.
package struct DiffRename: Hashable, Comparable, Sendable {
  package var old: String
  package var new: String

  package static func < (a: Self, b: Self) -> Bool { (a.old, a.new) < (b.old, b.new) }
}

/// The kind of change of a finding, type or site.
package enum DiffKind: String, CaseIterable, Hashable, Sendable {
  case new, worse, better, gone
}

/// Something that is not as it was.
package protocol ChangeOfKind: Hashable, Sendable {
  var kind: DiffKind { get }
}

/// A finding that is not as it was.
package struct FindingChange: ChangeOfKind {
  package var kind: DiffKind
  /// nil for new ones.
  package var old: Finding?
  /// nil for those that are gone.
  package var new: Finding?
  /// nil for new ones and those that are gone.
  package var match: DiffMatch?
  /// All figures of findings, those that did not change included.
  package var figures: [FigureChange]
  /// Runs of each side in which it was found.
  package var oldRuns: Int
  package var newRuns: Int

  /// The one to show.
  package var finding: Finding { (new ?? old)! }
}

/// A frame of a site, as both sides name it.
package struct DiffFrame: Codable, Hashable, Sendable {
  package var function: String
  /// Without numbers and marks that change with code elsewhere.
  package var stableName: String
  /// Of its mangled name; 0 if it has none. See `SymbolHash`.
  package var symbol: UInt32 = 0
  /// It is not the program's, but the only kind there is on its stack.
  package var isPlatform = false
  package var file: String?
  package var line: Int?
}

/// A type or an allocation site that is not as it was.
package struct AllocationChange: ChangeOfKind {
  package var kind: DiffKind
  /// The type's name, or that of the function that allocated; the new one.
  package var name: String
  package var oldName: String?
  /// Innermost first; empty for types.
  package var frames: [DiffFrame]
  package var match: DiffMatch?
  /// All figures of allocations.
  package var figures: [FigureChange]
  /// The largest change's part of the whole program's figure, from 0 to 1.
  package var weight: Double

  package var changes: [FigureChange] { figures.filter { $0.direction != .same } }
}

/// Changes of one sort, largest first, and how many have none.
package struct DiffSection<Change: ChangeOfKind>: Hashable, Sendable {
  package var changes: [Change]
  package var unchanged: Int
  /// Of these, those that were matched by similarity or other names.
  package var moved: Int
  /// Of the unchanged, findings that were met in some runs only.
  package var unsteady: Int

  package subscript(kind: DiffKind) -> [Change] { changes.filter { $0.kind == kind } }
}

/// The runs of one build.
package struct DiffSide: Hashable, Sendable {
  package struct Run: Hashable, Sendable {
    package var path: String
    package var events: UInt64
    /// By the unit that was asked for; 1 if none was.
    package var work: Double
  }
  /// The kind of its runs: what is known of them.
  package enum Kind: Hashable, Sendable { case recorded, light, inspected }

  package var program: String
  package var runs: [Run]
  /// `recorded` if they are of several kinds.
  package var kind = Kind.recorded
}

/// Everything that `leaktrace diff` has to say.
package struct DiffReport: Sendable {
  /// By what figures were made comparable.
  package enum Unit: Hashable, Sendable {
    case run
    case events
    case scope(String)
  }

  package var old: DiffSide
  package var new: DiffSide
  package var unit: Unit
  /// Of the whole program, all figures of allocations; nil in those that one side did not record.
  package var totals: [FigureChange]
  /// nil if a side has no heap image: then `findingsUnavailable` says why.
  package var findings: DiffSection<FindingChange>?
  package var findingsUnavailable: String?
  package var types: DiffSection<AllocationChange>
  package var sites: DiffSection<AllocationChange>
  package var renames: [DiffRename]
  /// Sentences that a reader needs to judge the changes.
  package var remarks: [String]

  /// Findings as gates and machine-readable reports see them: all of the new build, unchanged ones as known.
  package var judged: [JudgedFinding]
  /// Processes were looked at, none was recorded.
  package var areInspections = false
  /// Sites are types and what holds them, on both sides.
  package var listsHolders = false
  /// Of light recordings, what samples say of the places that allocate; nil unless all runs have such estimates.
  package var estimatedSites: DiffSection<EstimatedSiteChange>?
}
