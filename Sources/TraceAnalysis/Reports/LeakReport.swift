// What a report says of leaks, as a value.

/// The findings of one snapshot, as they are shown.
public struct LeakReport: Sendable {
  /// Why there are none to show, if no heap image could be looked at.
  public var unavailable: String?
  public var snapshot: TraceSnapshot?
  /// Of the program, then of libraries; those that a pattern hides among them.
  public var findings: [Finding] = []
  /// Patterns that hid something, and those that hid nothing.
  public var suppressions = Suppressions()
  public var remarks: [String] = []
  public var liveBlocks = 0
  /// What the program said of its objects, and what came of it.
  public var statements = ProgramStatements()
  /// What is live by the program's generations.
  public var generations: [Generation] = []
  /// What is accepted; nil if nobody said. Then every finding of the program is new.
  public var baseline: Baseline?
  /// Which part more of an accepted finding makes it worse.
  public var tolerance = Baseline.tolerance

  /// Whether suspicions can fail a gate.
  public var judgesSuspicions = false
  /// Whether weak suspicions are listed, too.
  public var listsWeak = false

  public init(unavailable: String) { self.unavailable = unavailable }

  /// `atExpectations`: findings of the heap images that were taken when expectations were not met; they take the place of those of the
  /// same expectations in this one. `growth`: what repetitions prove to grow, which takes the place of what was concluded of the same.
  public init(
    _ analysis: LeakAnalysis, suppressions: Suppressions = Suppressions(), atExpectations: [Finding] = [], growth: GrowthReport = GrowthReport()
  ) {
    snapshot = analysis.snapshot
    statements = analysis.statements
    generations = analysis.generations
    let stated = Set(atExpectations.compactMap(\.expectation))
    let own = analysis.findings().filter { finding in
      !(finding.expectation.map { stated.contains($0) } ?? false) && !growth.findings.contains { $0.isOfSameCause(as: finding) }
    }
    findings = FindingBuilder.sorted(own + atExpectations + growth.findings)
    remarks = analysis.remarks + growth.remarks
    liveBlocks = analysis.graph.blockCount
    self.suppressions = suppressions
    guard !suppressions.entries.isEmpty else { return }
    for index in findings.indices {
      let finding = findings[index]
      if let entry = self.suppressions.match(
        analysis.suppressionNames(of: finding), objects: finding.retainedBlocks, bytes: finding.retainedBytes.rawValue)
      {
        findings[index].suppression = self.suppressions.entries[entry].pattern.text
      }
    }
  }

  /// All findings, in their order, as they stand to the baseline.
  public var judged: [JudgedFinding] { (baseline ?? Baseline()).judge(findings, tolerance: tolerance, judgesSuspicions: judgesSuspicions) }

  /// Those that are listed.
  public var programFindings: [Finding] { findings.filter { !$0.isLibrary && $0.suppression == nil && isListed($0) } }
  /// Suspicions of the program that are counted and not listed.
  public var unlistedCount: Int { findings.count { $0.suppression == nil && !isListed($0) } }
  func isListed(_ finding: Finding) -> Bool { listsWeak || !finding.isWeak }
  public var libraryFindings: [Finding] { findings.filter { $0.isLibrary && $0.suppression == nil && isListed($0) } }
  public var hiddenFindings: [Finding] { findings.filter { $0.suppression != nil } }
}

extension Finding {
  /// What was concluded of objects that are proven to grow.
  fileprivate func isOfSameCause(as concluded: Finding) -> Bool {
    guard concluded.verdict == .outlived || concluded.verdict == .accumulating, let other = concluded.outliving, other.statement == nil else { return false }
    return outliving?.holder == other.holder && path.last?.qualifiedType == concluded.path.last?.qualifiedType
  }

  /// Where the program stated the expectation that it breaks, if it does.
  var expectation: MarkPlace? {
    if case .expectation(let place, _, _, _, _)? = outliving?.statement { place } else { nil }
  }
}
