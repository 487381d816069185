// Answers whether the findings of an old run are fixed in new runs.

import LeakDetection

/// Judges the matched findings of one old run and several new ones.
struct FixVerification {
  private let old: [ComparedFindings.Entry]
  private let new: [ComparedFindings.Entry]
  private let changes: FindingChanges
  private let judgement: FigureJudgement
  private let sites: SiteExercise
  private let runCount: Int

  init(
    _ old: [ComparedFindings.Entry], _ new: [ComparedFindings.Entry], changes: FindingChanges,
    judgement: FigureJudgement, sites: SiteExercise, runs: Int
  ) {
    (self.old, self.new, self.changes, self.judgement) = (old, new, changes, judgement)
    (self.sites, runCount) = (sites, runs)
  }

  /// The places of one old finding, with the matching entries of the new runs.
  private struct Group {
    var old: [Int] = []
    var new: [Int] = []
    /// The first match that is not exact, or else an exact one.
    var match: DiffMatch?
    /// Whether a new finding is the remainder of this one.
    var isRemainder = false
  }

  /// Returns the answers, and the findings that only the new runs have. `asked`: fingerprints of the findings to answer
  /// for; empty for all, except for weak suspicions.
  func answers(_ matching: NameMatching, _ alike: [FindingLikeness.Pair], asked: Set<String>) -> (
    fixes: [CheckedFix], new: [NewFinding]
  ) {
    var groups: [Group] = []
    var numbers: [String: Int] = [:]
    for (index, entry) in old.enumerated() {
      let number = numbers[entry.finding.fingerprint] ?? groups.count
      if number == groups.count {
        numbers[entry.finding.fingerprint] = number
        groups.append(Group())
      }
      groups[number].old.append(index)
    }
    var taken = Set<Int>()
    func add(_ index: Int, _ partner: Int, _ match: DiffMatch) {
      guard let number = numbers[old[index].finding.fingerprint] else { return }
      taken.insert(partner)
      groups[number].new.append(partner)
      if groups[number].match == nil || groups[number].match == .exact { groups[number].match = match }
    }
    for (index, partner) in matching.partners.enumerated() {
      if let partner { add(index, partner.new, partner.isRenamed ? .renamed(changes.renames(of: old[index])) : .exact) }
    }
    for pair in alike {
      add(pair.old, pair.new, .likeness(pair.differences))
      if pair.isRemainder, let number = numbers[old[pair.old].finding.fingerprint] { groups[number].isRemainder = true }
    }
    var added: [NewFinding] = []
    for (index, entry) in new.enumerated() where !taken.contains(index) {
      // The same cause at another place is no new finding.
      if let number = numbers[entry.finding.fingerprint] {
        groups[number].new.append(index)
        groups[number].match = groups[number].match ?? .exact
      } else if !entry.finding.isWeak, !changes.isDrawn(nil, entry.finding) {
        added.append(NewFinding(finding: entry.finding, runs: entry.foundIn))
      }
    }
    let fixes = groups.compactMap { group -> CheckedFix? in
      let finding = finding(of: group.old.map { old[$0] })
      guard asked.isEmpty ? !finding.isWeak : asked.contains(finding.fingerprint) else { return nil }
      return check(group, finding)
    }
    return (fixes.sorted(by: Self.precedes), added.sorted { Self.size($0.finding) > Self.size($1.finding) })
  }

  /// Returns one finding for all places of a cause.
  private func finding(of entries: [ComparedFindings.Entry]) -> Finding {
    var entries = entries.sorted { $0.finding.instances > $1.finding.instances }
    var result = entries.removeFirst().finding
    for entry in entries { result.add(entry.finding) }
    return result
  }

  private func check(_ group: Group, _ finding: Finding) -> CheckedFix {
    let instances = (0..<runCount).map { run in
      group.new.reduce(UInt64(0)) { $0 &+ (new[$1].runs[run].map { $0[.instances] } ?? 0) }
    }
    let isDrawn = changes.isDrawn(finding, nil)
    let runs = (0..<runCount).map { run in
      var site = use(group, run)
      if instances[run] == 0, isDrawn, site.isReached { site = .notReached(.fewSamples) }
      return CheckedFix.Run(instances: instances[run], site: site)
    }
    let present = runs.indices.filter { runs[$0].instances > 0 }
    let found = group.new.isEmpty || present.isEmpty ? nil : self.finding(of: group.new.map { new[$0] })
    let figures = Figure.ofFindings.map { figure in
      judgement.change(
        figure, old: [group.old.reduce(0) { $0 + (old[$1].values(figure).first ?? 0) }],
        new: present.isEmpty ? [0] : present.map { run in group.new.reduce(0) { $0 + new[$1].values(figure)[run] } },
        blockSize: changes.chanceBlock([finding, found].compactMap(\.self)))
    }
    return CheckedFix(
      answer: answer(runs, figures, group, finding, found), old: finding, new: found, match: group.match,
      figures: figures, runs: runs,
      oldBlocks: group.old.reduce(0) { $0 &+ sites.oldBlocks(of: old[$1]) })
  }

  /// Returns the use of all sites of a finding. A run that missed one of the sites does not prove that the finding is
  /// gone.
  private func use(_ group: Group, _ run: Int) -> SiteUse {
    var blocks: UInt64 = 0
    var isSampled = false
    var gap: ExerciseGap?
    for index in group.old {
      switch sites.use(of: old[index], run: run) {
      case .reached(let count): blocks &+= count
      case .sampled: isSampled = true
      // A certain gap is the better answer.
      case .notReached(let other): gap = gap.map { $0.isCertain ? $0 : other } ?? other
      }
    }
    if let gap { return .notReached(gap) }
    return isSampled ? .sampled : .reached(blocks: blocks)
  }

  private func answer(
    _ runs: [CheckedFix.Run], _ figures: [FigureChange], _ group: Group, _ before: Finding, _ after: Finding?
  ) -> FixAnswer {
    if let after {
      if runs.contains(where: \.isGone) { return .flaky }
      if group.isRemainder { return .fewer }
      if before.isWeak && after.isWeak || changes.isDrawn(before, after) { return .same }
      if figures.contains(where: { $0.direction == .worse }) { return .worse }
      return figures.contains { $0.direction == .better } ? .fewer : .same
    }
    if runs.contains(where: \.isGone) { return .gone }
    return runs.allSatisfy { $0.site.gap?.isCertain ?? false } ? .notExercised : .notKnown
  }

  private static func precedes(_ a: CheckedFix, _ b: CheckedFix) -> Bool {
    func rank(_ fix: CheckedFix) -> Int { FixAnswer.allCases.firstIndex(of: fix.answer) ?? 0 }
    if rank(a) != rank(b) { return rank(a) < rank(b) }
    return size(a.new ?? a.old) > size(b.new ?? b.old)
  }

  private static func size(_ finding: Finding) -> (UInt64, Int, String) {
    (finding.retainedBytes.rawValue, finding.instances, finding.fingerprint)
  }
}

extension RunComparison {
  /// Returns the answers for an old run and one or more new ones. `findings`: fingerprints of the old findings to answer
  /// for; empty for all. New runs without known findings do not count. If the old run's findings are not known, there
  /// are no answers, and the report names the reason. Throws if a run has more functions than its size allows.
  package static func verification(
    old: RunDigest, new: [RunDigest], findings: Set<String> = [], isUntrusted: Bool = false
  ) throws(Failure) -> FixReport {
    let judged = new.filter { $0.findings != nil }
    let unjudged = ([old] + new).filter { $0.findings == nil }.map {
      FixReport.Unjudged(path: $0.path, reason: $0.findingsUnavailable ?? "it has no heap image")
    }
    guard old.findings != nil, !judged.isEmpty else {
      return FixReport(
        old: side([old]), new: side(judged, program: new.first?.program), fixes: [], newFindings: [],
        unjudged: unjudged, renames: [], remarks: [])
    }
    var report = try comparison(old: [old], new: judged, isUntrusted: isUntrusted).verification(findings)
    report.unjudged = unjudged
    return report
  }
}
