// A leak in the public API, for other packages.

import LeakDetection
import TraceReports
import Wording

/// One cause of leaked memory, with all its instances.
public struct LeakFinding: Hashable, Sendable, Identifiable {
  private let finding: Finding

  init(_ finding: Finding) { self.finding = finding }

  /// An ID that stays the same across runs and builds while the cause stays the same.
  public var id: String { finding.fingerprint }
  /// The kind of defect, as in the JSON report: `retainCycle`, `lost`, `outlived`, and so on.
  public var verdict: String { finding.verdict.rawValue }
  /// The defect and its subject in one line, such as `Retain cycle: Parent ⇄ Child`.
  public var title: String { FindingDocument.headline(finding) }
  /// True if memory or the program's own statements prove the leak. False if it was inferred from what became of other
  /// objects.
  public var isProven: Bool { finding.certainty == .proven }
  /// True if the memory was allocated and is held only inside the platform's libraries, or if its owner is unknown.
  public var isLibrary: Bool { finding.isLibrary }
  /// True if the owner of lost memory is unknown, because neither an allocation stack nor the contents show it: the
  /// program or a library. True only for findings that count as a library's.
  public var hasUnknownOwner: Bool { finding.owner == .unknown }
  /// The number of times that the finding occurs in the heap.
  public var instances: Int { finding.instances }
  /// The number of bytes that would be freed without this leak.
  public var retainedBytes: UInt64 { finding.retainedBytes.rawValue }
  /// The number of blocks that hold these bytes.
  public var retainedBlocks: UInt64 { finding.retainedBlocks }
  /// Sentences about what to change; may be empty.
  public var advice: [String] { finding.advice.map(AdviceWords.sentence) }
  /// Returns all that is known about the finding, as in a text report of 100 columns: paths, places and evidence.
  public func text() -> String { FindingDocument.body(finding) }
}
