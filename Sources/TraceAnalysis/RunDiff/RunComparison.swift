// Compares two builds, each by one or more runs.

import LeakGates
import TextWriting
import TraceReading

/// Compares digests. Time and memory are proportional to the distinct sites of both sides. Items that cannot be matched
/// by name take more time, up to a limit.
package struct RunComparison {
  /// The reasons why two sides cannot be compared.
  package enum Failure: Error, Hashable, Sendable {
    /// A run has no execution of the scope that is the unit of work. `known`: the scopes that the run has.
    case scopeMissing(name: String, path: String, known: [String])
    /// The stacks of a run's sites together have more functions than a digest of its size may have.
    case tooManyFunctions(path: String)
  }

  /// With up to this many runs per side, time-dependent programs are judged with a larger tolerance.
  private static let fewRuns = 3

  private let old: [RunDigest]
  private let new: [RunDigest]
  private let unit: DiffReport.Unit
  /// The amount of work of each run.
  private let work: (old: [Double], new: [Double])
  private let judgement: FigureJudgement
  private let vocabulary = Vocabulary()

  /// Returns the report of a comparison. `old` and `new` must each have at least one run. `tolerance`: nil chooses a
  /// tolerance that suits the runs. `isUntrusted`: a stranger may have made a run, so its size limits the work.
  package static func report(
    old: [RunDigest], new: [RunDigest], unit: DiffReport.Unit = .run, tolerance: FigureTolerance? = nil,
    isUntrusted: Bool = false
  ) throws(Failure) -> DiffReport {
    let comparison = try comparison(old: old, new: new, unit: unit, tolerance: tolerance, isUntrusted: isUntrusted)
    return comparison.report()
  }

  /// Prepares a comparison of the runs.
  static func comparison(
    old: [RunDigest], new: [RunDigest], unit: DiffReport.Unit = .run, tolerance: FigureTolerance? = nil,
    isUntrusted: Bool
  ) throws(Failure) -> RunComparison {
    if isUntrusted {
      for run in old + new where run.hasTooManyFunctions { throw .tooManyFunctions(path: run.path) }
    }
    let work = (old: try work(old, unit), new: try work(new, unit))
    let judgement = FigureJudgement(
      tolerance: tolerance ?? usualTolerance(old, new), work: unit == .run ? nil : work,
      isWorkDerived: unit == .events)
    // In one process, holders can be compared exactly.
    let isOneProcess = old.count == 1 && new.count == 1 && old[0].isOfSameProcess(as: new[0])
    return RunComparison(
      old: isOneProcess ? old : old.map(\.withJoinedHolders), new: isOneProcess ? new : new.map(\.withJoinedHolders),
      unit: unit, work: work, judgement: judgement)
  }

  private static func usualTolerance(_ old: [RunDigest], _ new: [RunDigest]) -> FigureTolerance {
    if old.count == 1, new.count == 1, old[0].isOfSameProcess(as: new[0]) { return .sameProcess }
    guard min(old.count, new.count) <= Self.fewRuns else { return .standard }
    if (old + new).contains(where: { $0.hasRunLoop == true }) { return .runLoop }
    return (old + new).contains { $0.busyThreads > 1 } ? .timeDependent : .standard
  }

  private init(
    old: [RunDigest], new: [RunDigest], unit: DiffReport.Unit, work: (old: [Double], new: [Double]),
    judgement: FigureJudgement
  ) {
    (self.old, self.new, self.unit, self.work, self.judgement) = (old, new, unit, work, judgement)
  }

  private static func work(_ runs: [RunDigest], _ unit: DiffReport.Unit) throws(Failure) -> [Double] {
    var result: [Double] = []
    for run in runs {
      switch unit {
      case .run: result.append(1)
      case .events: result.append(Double(max(1, run.eventCount)))
      case .scope(let name):
        guard let executions = run.scopes[name], executions > 0 else {
          throw .scopeMissing(name: name, path: run.path, known: run.scopes.keys.sorted())
        }
        result.append(Double(executions))
      }
    }
    return result
  }

  // MARK: The report

  /// The sites and findings of both sides, and their matches.
  private struct Matched {
    var oldSites: [ComparedSites.Entry]
    var newSites: [ComparedSites.Entry]
    var oldFindings: [ComparedFindings.Entry]
    var newFindings: [ComparedFindings.Entry]
    var sites: NameMatching
    var sitesAlike: [(old: Int, new: Int)]
    var findings: NameMatching
    var findingsAlike: [FindingLikeness.Pair]
    var renames: [DiffRename]
  }

  /// Matches the names, the sites and the findings of both sides.
  private func match() -> Matched {
    let oldSites = ComparedSites(old, vocabulary, side: .old).entries
    let newSites = ComparedSites(new, vocabulary, side: .new).entries
    let oldFindings = ComparedFindings(old, vocabulary, side: .old).entries
    let newFindings = ComparedFindings(new, vocabulary, side: .new).entries
    noteFunctions(of: old, on: .new, having: new)
    noteFunctions(of: new, on: .old, having: old)
    let matched = NameMatching.match(
      sites: (oldSites.map(\.item), newSites.map(\.item)), findings: (oldFindings.map(\.item), newFindings.map(\.item)),
      vocabulary)
    let renames = renames()
    return Matched(
      oldSites: oldSites, newSites: newSites, oldFindings: oldFindings, newFindings: newFindings,
      sites: matched.sites,
      sitesAlike: SiteLikeness.pairs(oldSites, newSites, matched.sites, vocabulary), findings: matched.findings,
      findingsAlike: FindingLikeness(vocabulary, renames: renames).pairs(oldFindings, newFindings, matched.findings),
      renames: renames)
  }

  private func changes(of matched: Matched) -> FindingChanges {
    FindingChanges(
      matched.oldFindings, matched.newFindings, judgement: judgement, vocabulary: vocabulary,
      runs: (old.count, new.count))
  }

  private func report() -> DiffReport {
    let matched = match()
    var sites = SiteChanges(
      old: matched.oldSites, new: matched.newSites, wholes: wholes, judgement: judgement, vocabulary: vocabulary)
    sites.match(matched.sites, alike: matched.sitesAlike)

    let comparesReferences = (old + new).allSatisfy(\.recordsReferenceCounts)
    let figures =
      areInspections || listsHolders || hasLightRecordings
      ? [.liveBytes, .liveBlocks]
      : Figure.ofAllocations.filter { comparesReferences || ($0 != .retains && $0 != .releases) }
    let totals = totals(figures, sites)
    let unavailable = (old + new).first { $0.findings == nil }
    let findings = changes(of: matched).compare(matched.findings, matched.findingsAlike)
    let estimatedSites = estimatedSites()
    return DiffReport(
      old: Self.side(old, work.old), new: Self.side(new, work.new), unit: unit, totals: totals,
      findings: unavailable == nil ? findings.section : nil,
      findingsUnavailable: unavailable.map { run in
        let reason = run.findingsUnavailable ?? "no heap image"
        return reason.hasPrefix(run.path) ? reason : "\(run.path): \(reason)"
      },
      types: sites.types(figures, totals: totals),
      sites: sites.sites(figures, totals: totals, frames: frames), renames: matched.renames,
      remarks: remarks(comparesReferences, hasEstimates: estimatedSites != nil),
      judged: unavailable == nil ? findings.judged + libraryFindings() : [], areInspections: areInspections,
      listsHolders: listsHolders, estimatedSites: estimatedSites)
  }

  /// Returns the answers about the old run's findings. `findings`: the fingerprints to answer for; empty for all.
  func verification(_ findings: Set<String>) -> FixReport {
    let matched = match()
    let verification = FixVerification(
      matched.oldFindings, matched.newFindings, changes: changes(of: matched), judgement: judgement,
      sites: SiteExercise(
        old: matched.oldSites, new: matched.newSites, matched.sites, alike: matched.sitesAlike, runs: new,
        vocabulary: vocabulary), runs: new.count)
    let answers = verification.answers(matched.findings, matched.findingsAlike, asked: findings)
    return FixReport(
      old: Self.side(old, work.old), new: Self.side(new, work.new), fixes: answers.fixes, newFindings: answers.new,
      unjudged: [], renames: matched.renames, remarks: runRemarks + programRemarks)
  }

  /// Returns the changes of estimated sites; nil unless all runs have estimates. Must be called after names are
  /// matched.
  private func estimatedSites() -> DiffSection<EstimatedSiteChange>? {
    let runs = old + new
    guard runs.allSatisfy({ $0.estimates != nil }) else { return nil }
    let changes = EstimateChanges(
      old: ComparedEstimates(old, vocabulary, side: .old), new: ComparedEstimates(new, vocabulary, side: .new),
      judgement: EstimateJudgement(judgement, period: runs.compactMap(\.samplePeriod).max() ?? 0),
      vocabulary: vocabulary, runs: (old.count, new.count))
    return changes.section { entry, side in
      let digest = side == .old ? old[entry.run] : new[entry.run]
      return digest.estimates.map { digest.frames(of: $0[entry.number]) } ?? []
    }
  }

  /// Adds the functions of `runs` that the other side's symbols also contain, even if those functions no longer
  /// allocate there.
  private func noteFunctions(of runs: [RunDigest], on side: Vocabulary.Side, having others: [RunDigest]) {
    let functions = others.reduce(into: Set<UInt32>()) { $0.formUnion($1.functions) }
    for run in runs {
      for frame in run.frames where frame.symbol != 0 && functions.contains(frame.symbol) {
        _ = vocabulary.number(of: frame.stableName, on: side)
      }
    }
  }

  /// Whether all runs are inspections.
  private var areInspections: Bool { (old + new).allSatisfy { $0.inspected != nil } }

  /// Whether the sites of all runs are types and their holders.
  private var listsHolders: Bool { (old + new).allSatisfy(\.hasHolders) }

  /// Whether some run is a light recording. Each heap image of a light recording lists all blocks again, so sums over
  /// the recording would count a block once per heap image.
  private var hasLightRecordings: Bool { (old + new).contains { $0.isLight == true } }

  /// `program`: the name for a side without runs.
  static func side(_ runs: [RunDigest], _ work: [Double]? = nil, program: String? = nil) -> DiffSide {
    DiffSide(
      program: runs.first?.program ?? program ?? "",
      runs: zip(runs, work ?? runs.map { _ in 1 }).map { DiffSide.Run(path: $0.path, events: $0.eventCount, work: $1) },
      kind: runs.allSatisfy { $0.inspected != nil }
        ? .inspected : runs.allSatisfy { $0.isLight == true } ? .light : .recorded)
  }

  private var wholes: [Figure: Double] {
    var wholes: [Figure: Double] = [:]
    for figure in Figure.ofAllocations { wholes[figure] = (old + new).map { Double($0.total[figure]) }.max() }
    return wholes
  }

  private func totals(_ figures: [Figure], _ sites: SiteChanges) -> [FigureChange] {
    let changes = figures.map { figure in
      judgement.change(
        figure, old: old.map { Double($0.total[figure]) }, new: new.map { Double($0.total[figure]) },
        // A total is expected to be the sum of its sites' expected values.
        expected: judgement.work == nil ? nil : sites.expectedSum(figure), stray: sites.strayOfSum(figure))
    }
    return FigureJudgement.related(changes)
  }

  private func libraryFindings() -> [JudgedFinding] {
    var known: Set<String> = []
    return new.flatMap { $0.findings ?? [] }.map(\.finding).filter {
      $0.isLibrary && known.insert($0.fingerprint).inserted
    }.map { JudgedFinding($0, .library) }
  }

  private func frames(_ entry: ComparedSites.Entry, _ side: Vocabulary.Side) -> [DiffFrame] {
    let digest = side == .old ? old[entry.run] : new[entry.run]
    return digest.frames(of: digest.sites[entry.site])
  }

  /// Returns the renames, without those that another rename explains.
  private func renames() -> [DiffRename] {
    let all = vocabulary.successors.map { DiffRename(old: vocabulary.name($0), new: vocabulary.name($1)) }.sorted()
    return DiffRename.simplest(all)
  }

  private func remarks(_ comparesReferences: Bool, hasEstimates: Bool) -> [String] {
    var remarks: [String] = []
    if judgement.tolerance.isTimeDependent {
      let reason =
        judgement.tolerance == .runLoop ? "a run loop, which turns as often as there is time" : "several busy threads"
      remarks.append(
        "\(reason), and \(min(old.count, new.count) == 1 ? "one run a side" : "few runs a side"): smaller differences, which chance may have made, "
          + "are not shown. Give \(Self.fewRuns + 1) or more runs a side (--old, --new) to see them")
    }
    if hasLightRecordings {
      remarks.append(
        "light recordings have the blocks of their heap images: live blocks are compared\(listsHolders ? ", by type and holder" : ""), and neither peaks nor allocations are"
          + (hasEstimates ? ", except for the estimates by site" : ""))
      if let remark = spanRemark, hasEstimates { remarks.append(remark) }
    }
    if areInspections {
      remarks.append(inspectionRemark)
    } else if !listsHolders, (old + new).contains(where: \.hasHolders) {
      remarks.append(
        "some runs show the holders of their blocks, others show the sites that allocated them, and older digests of light recordings show neither: only types and findings match"
      )
    } else if !comparesReferences && !hasLightRecordings {
      remarks.append("retains and releases were not recorded on both sides, and are not compared")
    }
    remarks += programRemarks
    for (name, runs) in [("old", old), ("new", new)] {
      for run in runs where run.processes > 1 {
        remarks.append("\(name): \(run.processes) traces in \(run.path) are added up: they count as one run")
      }
    }
    return remarks + runRemarks
  }

  /// A remark if the sides are different programs.
  private var programRemarks: [String] {
    let (before, after) = (fileName(ofPath: old[0].program), fileName(ofPath: new[0].program))
    return before == after ? [] : ["the sides are different programs: \(before) and \(after)"]
  }

  /// A remark if samples were taken for much longer on one side; otherwise nil. A server allocates as long as it runs.
  private var spanRemark: String? {
    let (before, after) = (old.compactMap(\.sampledSeconds).max() ?? 0, new.compactMap(\.sampledSeconds).max() ?? 0)
    guard max(before, after) >= Self.minSpan, max(before, after) >= Self.unequalSpans * min(before, after) else {
      return nil
    }
    return
      "samples were taken for \(Decimal.duration(before)) on the old side and \(Decimal.duration(after)) on the new one: a program that goes on allocating has allocated more in the longer time"
  }

  /// Minimum seconds for the remark. A shorter time covers a program's start and its work, not a running server.
  private static let minSpan = 60.0
  /// Minimum ratio of the two times for the remark.
  private static let unequalSpans = 1.5

  private var inspectionRemark: String {
    guard old.count == 1, new.count == 1, let before = old[0].inspected, let after = new[0].inspected,
      old[0].isOfSameProcess(as: new[0])
    else { return "processes were inspected: types are compared by their holders" }
    if after.age < before.age {
      return
        "one process, and the new inspection is \(Decimal.duration(Double(before.age - after.age) / 1e9)) older than the old one: a number that is higher in it has gone down since"
    }
    return
      "one process, inspected twice within \(Decimal.duration(Double(after.age - before.age) / 1e9)): new objects may be current work, and prove no leak"
  }

  /// The remarks of all runs. Each remark occurs once, with the names of the runs that have it.
  private var runRemarks: [String] {
    var order: [String] = []
    var runs: [String: (old: [String], new: [String])] = [:]
    func add(_ run: RunDigest, _ side: WritableKeyPath<(old: [String], new: [String]), [String]>) {
      var seen: Set<String> = []
      for remark in run.remarks where seen.insert(remark).inserted {
        if runs[remark] == nil { order.append(remark) }
        runs[remark, default: ([], [])][keyPath: side].append(fileName(ofPath: run.path))
      }
    }
    for run in old { add(run, \.old) }
    for run in new { add(run, \.new) }
    return order.map { remark in
      let (inOld, inNew) = runs[remark] ?? ([], [])
      if inOld.count == old.count, inNew.count == new.count { return remark }
      let sides = [("old", inOld, old.count), ("new", inNew, new.count)].filter { !$0.1.isEmpty }.map {
        name, names, count in
        names.count == count ? name : "\(name) (\(Self.listed(names)))"
      }
      return "\(sides.joined(separator: ", ")): \(remark)"
    }
  }

  /// Returns the first names, and the number of further ones.
  private static func listed(_ names: [String]) -> String {
    let rest = names.count - 3
    return names.prefix(3).joined(separator: ", ") + (rest > 0 ? " and \(Decimal.grouped(UInt64(rest))) more" : "")
  }
}

extension DiffRename {
  /// Drops renames that a shorter rename explains. For example, `Foo.run()` became `Bar.run()` because `Foo` became
  /// `Bar`.
  static func simplest(_ renames: [DiffRename]) -> [DiffRename] {
    var result: [DiffRename] = []
    var index = RenameIndex()
    var known: Set<DiffRename> = []
    for rename in renames.map(\.withoutCommonOwner).sorted(by: { ($0.old.count, $0) < ($1.old.count, $1) })
    where known.insert(rename).inserted {
      guard !index.candidates(in: rename.old).contains(where: { result[$0].explains(rename) }) else { continue }
      index.insert(result.count, rename.old)
      result.append(rename)
    }
    return result.sorted()
  }

  /// The rename without the owners that both names begin with: `Foo` to `Bar` for `App.Foo` to `App.Bar`.
  private var withoutCommonOwner: DiffRename {
    var (a, b) = (old[...], new[...])
    while let dotA = a.firstIndex(of: "."), let dotB = b.firstIndex(of: "."), a[..<dotA] == b[..<dotB],
      a[..<dotA].allSatisfy(\.isPartOfName)
    {
      a = a[a.index(after: dotA)...]
      b = b[b.index(after: dotB)...]
    }
    return DiffRename(old: String(a), new: String(b))
  }

  private func explains(_ other: DiffRename) -> Bool {
    guard !old.isEmpty, other.old.count >= old.count else { return false }
    return other.old.replacingName(old, with: new) == other.new
  }
}

extension String {
  /// Replaces `name` by `other` wherever it occurs as a whole name.
  func replacingName(_ name: String, with other: String) -> String {
    // An empty name would occur everywhere.
    guard !name.isEmpty else { return self }
    func isPart(_ character: Character?) -> Bool { character?.isPartOfName ?? false }
    var result = ""
    var rest = self[...]
    while let range = rest.firstRange(of: name) {
      let before = range.lowerBound > startIndex ? self[index(before: range.lowerBound)] : nil
      let after = range.upperBound < endIndex ? self[range.upperBound] : nil
      result += rest[..<range.lowerBound] + (isPart(before) || isPart(after) ? name : other)
      rest = rest[range.upperBound...]
    }
    return result + rest
  }
}
