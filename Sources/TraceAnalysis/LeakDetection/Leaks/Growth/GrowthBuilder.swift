// Names the objects that grow with each round: their holder, the path to them, and the place that makes them.

import HeapAnalysis
import PlatformRules
import TraceReading

/// Makes findings from the groups of `GrowthFinder`. For one thread at a time.
struct GrowthBuilder {
  private let model: HeapModel
  private let graph: ObjectGraph
  private let tree: HolderTree
  private let survivorFindings: SurvivorFindings
  private let naming: FindingNaming
  private let repetition: Repetition

  /// `verdicts`: the verdicts of the last heap image.
  init(_ verdicts: Verdicts, naming: FindingNaming, _ tree: HolderTree, _ repetition: Repetition) {
    model = verdicts.model
    graph = verdicts.model.graph
    self.tree = tree
    self.repetition = repetition
    self.naming = naming
    survivorFindings = SurvivorFindings(verdicts, naming: naming)
  }

  /// Returns one finding for each cause. For each place, the finding shows the growing objects that are the most
  /// familiar to programmers. Places that hold the same objects share a finding.
  func findings(_ groups: [GrowthGroup]) -> [Finding] {
    let reported = groups.compactMap(reported).sorted { Self.precedes($0, $1) }
    var findings: [Finding] = []
    var places: Set<HolderPlace> = []
    var owners: [BlockIdentity: [[UInt64]]] = [:]
    var taken: Set<NodeID> = []
    /// All holders in libraries count as one place, so this place may have several causes.
    var accepted: [ReportedGroup] = []
    for candidate in reported {
      let group = candidate.group
      if group.place == .library ? accepted.contains(where: { areOne($0, candidate) }) : places.contains(group.place) {
        continue
      }
      // Objects that two places hold are reported once.
      if group.members.count(where: { taken.contains($0) }) * 2 > group.members.count { continue }
      // Skip a list of keys next to the table of their values. Both have the same owner and grow by the same steps.
      let steps = Self.steps(of: group.counts)
      if case .field(let owner, _) = group.place, case .elements = group.subject,
        owners[owner]?.contains(steps) ?? false
      {
        continue
      }
      places.insert(group.place)
      taken.formUnion(group.members)
      if group.place == .library { accepted.append(candidate) }
      if case .field(let owner, _) = group.place { owners[owner, default: []].append(steps) }
      findings.append(finding(candidate))
    }
    return Self.merged(findings)
  }

  /// Returns whether objects of one group hold objects of the other. For example, a task holds its closure, and the
  /// closure holds its captures.
  private func areOne(_ a: ReportedGroup, _ b: ReportedGroup) -> Bool {
    func hangs(_ a: ReportedGroup, from b: ReportedGroup) -> Bool {
      let holders = Set(b.group.members)
      return a.path.contains { holders.contains($0.node) }
    }
    return hangs(a, from: b) || hangs(b, from: a)
  }

  private static func steps(of counts: [UInt64]) -> [UInt64] { zip(counts, counts.dropFirst()).map { $1 &- $0 } }

  /// Joins equal causes in several places into one finding. For example, each of several servers may have such a place.
  private static func merged(_ findings: [Finding]) -> [Finding] {
    var numbers: [String: Int] = [:]
    var result: [Finding] = []
    for finding in findings {
      guard let known = numbers[finding.fingerprint] else {
        numbers[finding.fingerprint] = result.count
        result.append(finding)
        continue
      }
      result[known].instances += finding.instances
      result[known].retainedBytes.rawValue &+= finding.retainedBytes.rawValue
      result[known].retainedBlocks &+= finding.retainedBlocks
      if case .repeated(var rounds, let retention, let siblings) = result[known].evidence,
        case .repeated(let added, _, _) = finding.evidence, rounds.counts.count == added.counts.count
      {
        rounds.counts = zip(rounds.counts, added.counts).map { $0 &+ $1 }
        result[known].evidence = .repeated(rounds, retention, siblings)
      }
    }
    return result
  }

  // MARK: Reported groups

  private struct ReportedGroup {
    var group: GrowthGroup
    var path: [LeakGroup.Step]
    var suspect: Int
    var sample: NodeID
    /// The objects that the counted rounds made.
    var fresh: [NodeID]
    /// The place in the order of findings: the most informative finding comes first.
    var rank: Int
  }

  private static func precedes(_ a: ReportedGroup, _ b: ReportedGroup) -> Bool {
    if a.rank != b.rank { return a.rank < b.rank }
    if a.path.count != b.path.count { return a.path.count < b.path.count }
    if a.group.counts != b.group.counts { return b.group.counts.lexicographicallyPrecedes(a.group.counts) }
    return a.sample < b.sample
  }

  /// Returns a group with the path to one of its objects; nil if the programmer cannot change the cause.
  private func reported(_ group: GrowthGroup) -> ReportedGroup? {
    let fresh: [NodeID]
    switch group.subject {
    case .objects: fresh = group.members.filter { !tree.isKept($0) }
    case .elements: fresh = group.members
    }
    let sample = fresh.filter { node in tree.entry(of: node).flatMap(tree.place) == group.place }
      .min { (tree.paths(to: $0).costs[$0], $0) < (tree.paths(to: $1).costs[$1], $1) }
    guard let sample, let entry = tree.entry(of: sample), let path = tree.paths(to: sample).path(to: sample) else {
      return nil
    }
    var steps: [LeakGroup.Step] = [.init(node: path.root, edge: nil)]
    for step in path.steps {
      steps[steps.count - 1].edge = step.edge
      steps.append(.init(node: step.node, edge: nil))
    }
    guard let holder = steps.firstIndex(where: { $0.edge == entry }) else { return nil }
    let beyond = steps.indices.dropFirst(holder + 1)
    // In a list, the holder has the first object of the kind, regardless of where new objects are added.
    let kind = tree.typeNumber(of: sample)
    let first =
      beyond.first {
        !tree.isKept(steps[$0].node) && !tree.isCollection(steps[$0].node)
          || tree.typeNumber(of: steps[$0].node) == kind
      } ?? steps.count - 1
    let registration = survivorFindings.holders.registration(steps, after: holder)
    let suspect = registration?.index ?? first - 1
    guard let rank = rank(group, sample, steps, holder), !isPending(steps, isRegistered: registration != nil) else {
      return nil
    }
    return ReportedGroup(group: group, path: steps, suspect: suspect, sample: sample, fresh: fresh, rank: rank)
  }

  private func rank(_ group: GrowthGroup, _ sample: NodeID, _ steps: [LeakGroup.Step], _ holder: Int) -> Int? {
    let site = graph.heap[BlockID(sample)].site
    let type = graph.type(of: sample)
    if case .elements = group.subject { return survivorFindings.finder.isKnownHolder(steps, holder) ? 3 : nil }
    switch type.kind {
    case .object: return naming.isOwn(sample) ? 0 : 1
    case .closure, .box, .task: return survivorFindings.origin(site).isProgram ? 2 : nil
    default:
      return survivorFindings.origin(site).isProgram && survivorFindings.finder.isKnownHolder(steps, holder) ? 4 : nil
    }
  }

  /// Returns whether the growth is pending work in a queue. Such work keeps the objects that it needs until a thread
  /// runs it. That is so even if the repeating thread itself would run it. Work that waits for a time or an event is
  /// not pending.
  private func isPending(_ steps: [LeakGroup.Step], isRegistered: Bool) -> Bool {
    // Begin with the last object of the program that the rounds did not make, and judge its references. Objects that
    // came with the work are part of the work.
    let start =
      steps.indices.dropLast().last {
        !graph.isRoot(steps[$0].node) && tree.isKept(steps[$0].node)
          && survivorFindings.finder.isProgramObject(steps[$0].node)
      } ?? 0
    var isQueued = false
    for index in steps.indices.dropLast() where index >= start {
      let node = steps[index].node
      if graph.isRoot(node) {
        let name = naming.origin(node, target: steps.count > index + 1 ? steps[index + 1].node : nil).name
        if Registrations.timers.matches(name) { return false }
        if Self.queues.matches(name) { isQueued = true }
      } else if let edge = steps[index].edge, let label = graph.label(graph.graph.label(of: edge)),
        label.name.hasPrefix("$defaultActor")
      {
        isQueued = true
      } else if isOfDispatch(node) {
        if isWaiting(node) { return false }
        isQueued = true
      }
    }
    return isQueued
  }

  private func isOfDispatch(_ node: NodeID) -> Bool {
    guard graph.type(of: node).kind == .malloc, graph.taskOfSlab[node] == nil else { return false }
    let frame = naming.frames(of: graph.heap[BlockID(node)].site).first {
      !AllocationFunctions.isOne($0) && $0.kind != .thunk
    }
    guard let frame else { return false }
    return frame.imageName.map { Self.queueImages.matches($0) } ?? false
      || frame.mangledName.map { Self.queueFunctions.matches($0) } ?? false
  }

  private static let queues = RuleBook.shipped.table(.queue, by: .variable)
  private static let queueImages = RuleBook.shipped.table(.queue, by: .image)
  private static let queueFunctions = RuleBook.shipped.table(.queue, by: .symbol)

  /// Returns whether a block belongs to a dispatch source or a timer.
  private func isWaiting(_ node: NodeID) -> Bool {
    naming.frames(of: graph.heap[BlockID(node)].site).prefix(12).contains { frame in
      guard let kind = frame.mangledName.flatMap(Registrations.kind(ofSymbol:)) else { return false }
      return kind == .dispatchSource || kind == .dispatchWork
    }
  }

  // MARK: One finding

  private func finding(_ reported: ReportedGroup) -> Finding {
    let members = Set(reported.fresh)
    var bytes: UInt64 = 0
    var blocks: UInt64 = 0
    for node in reported.fresh where !tree.ownership.isDominated(node, by: members) {
      bytes &+= tree.ownership.retainedSizes[node]
      blocks &+= UInt64(tree.ownership.retainedCounts[node])
    }
    let site = Int(graph.heap[BlockID(reported.sample)].site.rawValue)
    let lifetime = model.trace.sites.indices.contains(site) ? model.trace.sites[site].lifetime : SiteLifetime()
    let survivors = reported.fresh.sorted { graph.heap[BlockID($0)].ordinal < graph.heap[BlockID($1)].ordinal }
    let measure: Finding.RoundMeasure = if case .elements = reported.group.subject { .elements } else { .objects }
    let rounds = Finding.Rounds(
      place: repetition.place, first: Repetition.warmUpRounds, measure: measure,
      counts: reported.group.counts.map { Int(clamping: $0) })
    var finding = survivorFindings.finding(
      SurvivorGroup(
        verdict: .growing, survivors: survivors, sample: reported.sample, path: reported.path,
        suspect: reported.suspect,
        lifetime: lifetime, sites: [], homeDistance: nil, evidence: .init(.standard),
        retainedBytes: bytes, retainedBlocks: blocks), snapshot: model.snapshot.number
    ) { .repeated(rounds, $0, $1) }
    finding.fingerprint = FindingIdentity(finding).fingerprint
    finding.advice = Advice.advice(for: finding)
    return finding
  }
}
