// A report's part on leaks, as a value.

import LeakDetection
import TraceReading
import TraceSymbolication

/// The findings of one snapshot, ready to be shown.
package struct LeakReport: Sendable {
  /// The reason why there are no findings to show, if no heap image could be analyzed.
  package var unavailable: String?
  /// The reason why a part of the heap image could not be analyzed; nil if the whole heap image was analyzed.
  package private(set) var obstacle: String?
  package var snapshot: TraceSnapshot?
  /// The program's findings, then the libraries' findings. Includes hidden findings.
  package var findings: [Finding] = []
  /// All patterns, with the number of findings that each one hid.
  package var suppressions = Suppressions()
  package var remarks: [String] = []
  package var liveBlocks = 0
  /// The parts of resident memory at the time of the heap image; nil if unknown.
  package var residentMemory: ResidentMemory?
  /// The blocks that leak, by allocation site; nil if unknown.
  package var leaked: [SiteID: BlockSum]?
  /// The program's scopes and expectations, with their outcomes.
  package var statements = ProgramStatements()
  /// Collections that grew. These are facts, not findings.
  package var grown: [GrownCollection] = []
  /// The level of the live memory, if memory has stopped growing and no finding or growth is listed; a fact.
  package var level: MemoryLevel?
  /// Every candidate for a suspicion, with the effects of the rules on it; nil unless the report explains suspicions.
  package var candidates: [SuspicionAccount]?
  /// Live objects by the program's generations.
  package var generations: [Generation] = []
  /// The accepted findings; nil if no baseline was given. Without a baseline, every finding of the program is new.
  package var baseline: Baseline?
  /// The relative growth that makes an accepted finding worse.
  package var tolerance = Baseline.tolerance

  /// True if suspicions can fail a gate.
  package var judgesSuspicions = false
  /// True if weak suspicions are listed as well.
  package var listsWeak = false

  /// For each fingerprint: the stacks of the finding. Empty if stacks were not requested.
  package var stacks: [String: FindingStacks] = [:]

  package init(unavailable: String) { self.unavailable = unavailable }

  /// `atExpectations`: findings from the heap images that were taken when expectations failed. They replace this heap
  /// image's findings about the same expectations. `growth`: growth proven by repetitions. It replaces findings with
  /// the same cause. `earlier`: the heap before the program freed its objects; nil if it freed none at its end.
  package init(
    _ analysis: LeakAnalysis, suppressions: Suppressions = Suppressions(),
    atExpectations: ExpectationImages = ExpectationImages(), growth: GrowthReport = GrowthReport(),
    earlier: LeakAnalysis? = nil
  ) {
    snapshot = analysis.model.snapshot
    obstacle = analysis.obstacle
    statements = analysis.model.statements
    generations = analysis.model.generations
    grown = analysis.grownCollections()
    let stated = atExpectations.places
    let own = analysis.findings().filter { finding in
      !(finding.expectation.map { stated.contains($0) } ?? false)
        && !growth.findings.contains { $0.isOfSameCause(as: finding) }
    }
    var found = own + atExpectations.completed(by: analysis) + growth.findings
    if let earlier {
      // The image at exit shows more about the objects that are still live.
      let types = Set(found.compactMap { $0.path.last?.qualifiedType })
      found += earlier.earlierFindings().filter { !types.contains($0.path.last?.qualifiedType ?? "") }
      let known = Set(grown.map(\.holder))
      grown += earlier.grownCollections().filter { !known.contains($0.holder) }
    }
    findings = FindingBuilder.sorted(found)
    remarks = analysis.remarks + growth.remarks
    liveBlocks = analysis.graph.blockCount
    residentMemory = analysis.model.residentMemory
    leaked = analysis.leakedBySite()
    self.suppressions = suppressions
    findings = hidden(findings, of: analysis)
    if conclusion == .steady { level = analysis.memoryLevel() }
  }

  /// Returns the findings, with the pattern that hides each one. Counts the hidden findings of each pattern.
  private mutating func hidden(_ findings: [Finding], of analysis: LeakAnalysis) -> [Finding] {
    guard !suppressions.entries.isEmpty else { return findings }
    let names = analysis.suppressionNames
    return findings.map { finding in
      var finding = finding
      if let entry = suppressions.match(
        names.names(of: finding), objects: finding.retainedBlocks, bytes: finding.retainedBytes.rawValue)
      {
        finding.suppression = suppressions.entries[entry].pattern.text
      }
      return finding
    }
  }

  /// Adds suspicions from a series of heap images. The newest heap image of the series must be the one of this report.
  /// Suppressions apply to these suspicions, too.
  package mutating func add(_ suspects: [Finding], of analysis: LeakAnalysis) {
    findings = FindingBuilder.sorted(findings + hidden(suspects, of: analysis))
  }

  /// Looks up the stacks of all findings: the stacks of their allocations, and of the retains that were never released.
  /// `allocations` must come from the same snapshot. Takes one pass over the events if retains were recorded.
  package mutating func findStacks(_ reader: TraceReader, _ allocations: AllocationAnalysis, naming: any FrameNaming) {
    guard let snapshot, !findings.isEmpty else { return }
    stacks = FindingStackSearch(reader, allocations, snapshot: snapshot, naming: naming).stacks(of: findings)
  }

  /// All findings, in their order, compared with the baseline.
  package var judged: [JudgedFinding] {
    (baseline ?? Baseline()).judge(findings, tolerance: tolerance, judgesSuspicions: judgesSuspicions)
  }

  /// The overall result. A report begins with it.
  package enum Conclusion: String, Sendable {
    case notChecked, leak, suspected
    /// No finding is listed, but a collection grew during the run.
    case growing
    /// No finding is listed. The allocator keeps much freed memory, and more than the memory of what grew.
    case kept
    /// No finding is listed, and nothing grew. The live memory stopped growing during the run.
    case levelled
    case steady
  }

  /// The overall result. Hidden findings, weak suspicions that are not listed, and small library findings do not count.
  package var conclusion: Conclusion {
    if unavailable != nil { return .notChecked }
    let listed = programFindings
    if !largeLibraryFindings.isEmpty || listed.contains(where: { $0.certainty == .proven }) { return .leak }
    if !listed.isEmpty { return .suspected }
    if keepsMoreThanConcluded { return .kept }
    if !grown.isEmpty { return .growing }
    return level == nil ? .steady : .levelled
  }

  /// True if the allocators keep much freed memory: more than the listed findings retain, or than the collections that
  /// grew have.
  package var keepsMoreThanConcluded: Bool {
    guard let residentMemory, residentMemory.isMostlyFreed, let freed = residentMemory.freed else { return false }
    let findings = programFindings + largeLibraryFindings
    let retained = findings.reduce(UInt64(0)) { $0 &+ $1.retainedBytes.rawValue }
    return freed > (findings.isEmpty ? grown.reduce(0) { $0 &+ $1.bytes.rawValue } : retained)
  }

  /// The program's findings that are listed.
  package var programFindings: [Finding] { findings.filter { !$0.isLibrary && $0.suppression == nil && isListed($0) } }
  /// Weak suspicions, which a report counts but does not list.
  package var unlisted: [Finding] { findings.filter { $0.suppression == nil && !isListed($0) } }
  package func isListed(_ finding: Finding) -> Bool { listsWeak || !finding.isWeak }
  package var libraryFindings: [Finding] { findings.filter { $0.isLibrary && $0.suppression == nil && isListed($0) } }
  /// Large leaks of libraries. If a library leaks at each call, the program's memory grows with its number of calls.
  package var largeLibraryFindings: [Finding] { libraryFindings.filter { $0.isLibraryLeak() } }
  package var hiddenFindings: [Finding] { findings.filter { $0.suppression != nil } }
}

extension Finding {
  /// Returns whether `concluded` is a suspicion about the objects whose growth this finding proves.
  fileprivate func isOfSameCause(as concluded: Finding) -> Bool {
    guard case .suspected(_, let survivors) = concluded.evidence else { return false }
    return evidence.retention?.holder == survivors.retention.holder
      && path.last?.qualifiedType == concluded.path.last?.qualifiedType
  }
}
