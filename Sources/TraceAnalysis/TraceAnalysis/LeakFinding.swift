// A leak as programs of other packages see it.

import LeakDetection
import TraceReports
import Wording

/// One cause of leaked memory, with all its instances.
public struct LeakFinding: Hashable, Sendable, Identifiable {
  private let finding: Finding

  init(_ finding: Finding) { self.finding = finding }

  /// Stable across runs and builds while the cause stays the same.
  public var id: String { finding.fingerprint }
  /// The kind of fault, as in the JSON report: `retainCycle`, `lost`, `outlived`, and so on.
  public var verdict: String { finding.verdict.rawValue }
  /// The fault and its subject in a line, such as `Retain cycle: Parent ⇄ Child`.
  public var title: String { FindingDocument.headline(finding) }
  /// Memory or the program's own statements show it; if false, it was concluded from the fates of other objects.
  public var isProven: Bool { finding.certainty == .proven }
  /// It was made and is held inside the platform's libraries alone, or its owner is not known.
  public var isLibrary: Bool { finding.isLibrary }
  /// The stack that allocated the lost memory is unknown, and its contents do not show the owner: it may be the
  /// program's or a library's. True only for findings that count as a library's.
  public var hasUnknownOwner: Bool { finding.owner == .unknown }
  /// The number of times that it occurs in the heap.
  public var instances: Int { finding.instances }
  /// Bytes that would be freed without it.
  public var retainedBytes: UInt64 { finding.retainedBytes.rawValue }
  /// The number of blocks that hold these bytes.
  public var retainedBlocks: UInt64 { finding.retainedBlocks }
  /// Sentences on what to change; may be empty.
  public var advice: [String] { finding.advice.map(AdviceWords.sentence) }
  /// All that is known of it, as in a text report of 100 columns: paths, places and evidence.
  public func text() -> String { FindingDocument.body(finding) }
}
