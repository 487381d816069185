// What a report says of leaks, as a value.

/// The findings of one snapshot, as they are shown.
public struct LeakReport: Sendable {
  /// Why there are none to show, if no heap image could be looked at.
  public var unavailable: String?
  public var snapshot: TraceSnapshot?
  /// Of the program, then of libraries; suppressed ones left out.
  public var findings: [Finding] = []
  /// How many a pattern hid, and their bytes.
  public var suppressedCount = 0
  public var suppressedBytes: UInt64 = 0
  public var remarks: [String] = []
  public var liveBlocks = 0

  public init(unavailable: String) { self.unavailable = unavailable }

  public init(_ analysis: LeakAnalysis) {
    snapshot = analysis.snapshot
    findings = analysis.findings()
    remarks = analysis.remarks
    liveBlocks = analysis.graph.blockCount
  }

  public var programFindings: [Finding] { findings.filter { !$0.isLibrary } }
  public var libraryFindings: [Finding] { findings.filter(\.isLibrary) }
}
