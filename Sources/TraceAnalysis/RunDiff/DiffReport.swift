// The changes between two builds, as a value. The changes are matched, judged and sorted, but not formatted.

import LeakDetection
import LeakGates

/// A quantity that two builds are compared by.
package enum Figure: String, CaseIterable, Codable, Hashable, Sendable {
  case liveBytes, liveBlocks, peakBytes, allocatedBytes, allocatedBlocks, temporaryBlocks, retains, releases
  /// For findings.
  case instances, retainedBytes
  /// For findings: objects that were added after the first quarter of the work and still exist. Work is counted in
  /// events, from the first event to the snapshot.
  case growth

  var isBytes: Bool { [.liveBytes, .peakBytes, .allocatedBytes, .retainedBytes].contains(self) }

  /// Figures of sites, types and whole programs.
  static let ofAllocations: [Figure] = [
    .liveBytes, .liveBlocks, .peakBytes, .allocatedBytes, .allocatedBlocks, .temporaryBlocks, .retains, .releases,
  ]
  static let ofFindings: [Figure] = [.instances, .retainedBytes, .growth]
}

/// The values of a figure in the runs of one side.
package struct Spread: Hashable, Sendable {
  package var lowest: Double
  package var median: Double
  package var highest: Double
}

/// A figure of both sides, with the judgement on its change.
package struct FigureChange: Hashable, Sendable {
  package enum Direction: Hashable, Sendable { case worse, better, same }

  package var figure: Figure
  package var old: Spread
  package var new: Spread
  /// The new median that is expected if nothing changed. This is the old median; with `--per`, it is scaled to the new
  /// amount of work.
  package var expected: Double
  /// `same` if the difference is within the spread of the runs or the tolerance.
  package var direction: Direction

  package var difference: Double { new.median - expected }
  /// The new median divided by the expected one; nil if 0 was expected.
  package var ratio: Double? { expected > 0 ? new.median / expected : nil }
}

/// The kind of match between an item of one side and its counterpart.
package enum DiffMatch: Hashable, Sendable {
  /// All identifying parts are equal.
  case exact
  /// All identifying parts are equal, except for names that changed everywhere.
  case renamed([DiffRename])
  /// The items are similar, and no other item is more similar. The strings describe the differences.
  case likeness([String])
}

/// A name that replaced another one everywhere.
package struct DiffRename: Hashable, Comparable, Sendable {
  package var old: String
  package var new: String

  package static func < (a: Self, b: Self) -> Bool { (a.old, a.new) < (b.old, b.new) }
}

/// The kind of change of a finding, type or site.
package enum DiffKind: String, CaseIterable, Hashable, Sendable {
  case new, worse, better, gone
}

/// A change of an item.
package protocol ChangeOfKind: Hashable, Sendable {
  var kind: DiffKind { get }
}

/// A changed finding.
package struct FindingChange: ChangeOfKind {
  package var kind: DiffKind
  /// nil for new findings.
  package var old: Finding?
  /// nil for findings that are gone.
  package var new: Finding?
  /// nil for findings that are new or gone.
  package var match: DiffMatch?
  /// All figures of findings, including the unchanged ones.
  package var figures: [FigureChange]
  /// The number of runs of each side that have the finding.
  package var oldRuns: Int
  package var newRuns: Int

  /// The finding to show: the new one if there is one.
  package var finding: Finding { (new ?? old)! }
}

/// A frame of a site.
package struct DiffFrame: Codable, Hashable, Sendable {
  package var function: String
  /// The name without numbers and marks that depend on code elsewhere.
  package var stableName: String
  /// A hash of the function's mangled name; 0 if there is none. See `SymbolHash`.
  package var symbol: UInt32 = 0
  /// True if the frame is a platform function. Platform frames are kept only on stacks without functions of the
  /// program.
  package var isPlatform = false
  package var file: String?
  package var line: Int?
}

/// A changed type or allocation site.
package struct AllocationChange: ChangeOfKind {
  package var kind: DiffKind
  /// The name of the type, or of the allocating function; the new name if it changed.
  package var name: String
  package var oldName: String?
  /// Innermost first; empty for types.
  package var frames: [DiffFrame]
  package var match: DiffMatch?
  /// All figures of allocations.
  package var figures: [FigureChange]
  /// The largest change, as a share of the whole program's figure, from 0 to 1.
  package var weight: Double

  package var changes: [FigureChange] { figures.filter { $0.direction != .same } }
}

/// Changes of findings, types or sites, largest first, and the number of unchanged items.
package struct DiffSection<Change: ChangeOfKind>: Hashable, Sendable {
  package var changes: [Change]
  package var unchanged: Int
  /// Unchanged items that were matched by similarity or under other names.
  package var moved: Int
  /// Unchanged findings that occurred in only some of the runs.
  package var unsteady: Int

  package subscript(kind: DiffKind) -> [Change] { changes.filter { $0.kind == kind } }
}

/// The runs of one build.
package struct DiffSide: Hashable, Sendable {
  package struct Run: Hashable, Sendable {
    package var path: String
    package var events: UInt64
    /// Amount of work in the requested unit; 1 without a unit.
    package var work: Double
  }
  /// The kind of the runs, which decides the facts that are known about them.
  package enum Kind: Hashable, Sendable { case recorded, light, inspected }

  package var program: String
  package var runs: [Run]
  /// The kind of all runs; `recorded` if they are of several kinds.
  package var kind = Kind.recorded
}

/// Everything that `leaktrace diff` reports.
package struct DiffReport: Sendable {
  /// The unit of work that figures are related to.
  package enum Unit: Hashable, Sendable {
    case run
    case events
    case scope(String)
  }

  package var old: DiffSide
  package var new: DiffSide
  package var unit: Unit
  /// The whole program's figures of allocations, without figures that one side did not record.
  package var totals: [FigureChange]
  /// nil if a side has no heap image; `findingsUnavailable` then has the reason.
  package var findings: DiffSection<FindingChange>?
  package var findingsUnavailable: String?
  package var types: DiffSection<AllocationChange>
  package var sites: DiffSection<AllocationChange>
  package var renames: [DiffRename]
  /// Sentences that a reader needs to judge the changes.
  package var remarks: [String]

  /// All findings of the new build, for gates and machine-readable reports. Unchanged findings count as known.
  package var judged: [JudgedFinding]
  /// Whether all runs are inspections.
  package var areInspections = false
  /// Whether the sites are types and their holders, on both sides.
  package var listsHolders = false
  /// For light recordings, the sampled estimates of allocation sites; nil unless all runs have such estimates.
  package var estimatedSites: DiffSection<EstimatedSiteChange>?
}
