// Makes findings of objects that outlived their scope, with names for the scope and the holder, and with their growth.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// Makes findings from the groups of `SurvivorFinder`. For one thread at a time.
struct SurvivorFindings {
  private let verdicts: Verdicts
  private let graph: ObjectGraph
  private let paths: FindingPaths
  private let naming: FindingNaming
  let holders: HolderNames
  private let waiting: WaitingTasks
  private let connections: OpenConnections
  let ownership: OwnershipTrees
  private let owner: RegistrationOwner
  private let stuck: StuckTasks
  private let rules: SurvivorRules
  private let lettingGo: LettingGo?
  private let objectUses: ObjectUses?
  private let partings: FamilyPartings?
  private let code: OptimisedCode
  private let log: SuspicionLog?
  private var model: HeapModel { verdicts.model }

  init(
    _ verdicts: Verdicts, naming: FindingNaming, rules: SurvivorRules = .standard, lettingGo: LettingGo? = nil,
    objectUses: ObjectUses? = nil, partings: FamilyPartings? = nil, log: SuspicionLog? = nil
  ) {
    self.lettingGo = lettingGo
    self.partings = partings
    self.objectUses = objectUses
    self.verdicts = verdicts
    let graph = verdicts.model.graph
    self.graph = graph
    self.rules = rules
    self.log = log
    paths = FindingPaths(graph, naming: naming)
    self.naming = naming
    let holders = HolderNames(graph, naming: naming)
    self.holders = holders
    let sleeps = EndedSleeps(
      verdicts.model.trace.sites, stacks: verdicts.model.trace.definitions.stacks, naming: naming)
    waiting = WaitingTasks(
      graph, minFirstWait: rules.minFirstWait,
      isTimer: { [model = verdicts.model] node in
        // Without the stack of a call, a variable of libdispatch shows the timer.
        holders.isDelayedWork(node) || model.isListed(graph.heap[BlockID(node)]) && holders.isInTimers(node)
      }, isJob: { holders.isJob($0) }, isInLoop: { naming.isInLoop($0) }, isInSleep: { naming.isInSleep($0) },
      endedSleeps: { sleeps.count(in: $0) })
    connections = OpenConnections(graph)
    ownership = OwnershipTrees(graph)
    owner = RegistrationOwner(graph, naming: naming, ownership: ownership)
    code = OptimisedCode(verdicts.model.trace.sites, naming: naming)
    stuck = StuckTasks(graph, unreachable: verdicts.finder.unreachable)
  }

  /// Returns one finding for each cause.
  func findings() -> [Finding] {
    let groups = finder.groups { steps, shared in holders.registration(steps, after: shared) }
    return findings(
      of: groups.filter { group in
        let isStuck = stuck.keeps(group.path)
        if isStuck { log?.notePart(ofAnotherFinding: group) }
        return !isStuck
      })
  }

  var finder: SurvivorFinder {
    SurvivorFinder(
      rules: rules, graph: graph, sites: model.trace.sites, activations: model.activations,
      stacks: model.trace.definitions.stacks,
      unreachable: verdicts.finder.unreachable, ownership: ownership, startTime: model.trace.header.startTime,
      hasHistory: verdicts.hasHistory, isListed: model.mayHaveListedBlocks ? { [model] in model.isListed($0) } : nil,
      isConcurrent: isConcurrent, origin: origin, isOptimised: { [code] in code.isOptimised },
      line: line,
      isRegistration: { [holders] in holders.isRegistration($0, of: $1) },
      observerCenters: { [holders] in holders.centers },
      waiting: waiting, connections: connections, lettingGo: lettingGo, objectUses: objectUses, partings: partings,
      log: log)
  }

  /// Returns the effects of the rules on each candidate that a finding could name: listed candidates first, then those
  /// with most bytes. Linear in the candidates' instances, once the findings are made.
  func accounts() -> [SuspicionAccount] {
    guard let log else { return [] }
    _ = findings()
    let finder = finder
    let accounts = log.latest().compactMap { candidate -> SuspicionAccount? in
      let survivors = candidate.family.survivors
      let first = survivors[0]
      guard survivors.count >= rules.minRegistered || candidate.outcome != .excluded, finder.isNameable(first) else {
        return nil
      }
      let type = graph.type(of: first)
      return SuspicionAccount(
        type: type.name, place: naming.allocation(graph.heap[BlockID(first)].site, of: type), live: survivors.count,
        births: candidate.family.lifetime.births,
        bytes: ByteCount(survivors.reduce(0) { $0 &+ graph.heap[BlockID($1)].size }), outcome: candidate.outcome,
        points: candidate.points, entries: candidate.entries)
    }
    return accounts.sorted {
      ($0.outcome.rank, $1.bytes.rawValue, $0.type, $0.births) < (
        $1.outcome.rank, $0.bytes.rawValue, $1.type, $1.births
      )
    }
  }

  private var isConcurrent: Bool {
    let events = model.trace.threads.map(\.events)
    let all = events.reduce(0, &+)
    return Double(all - (events.max() ?? 0)) >= rules.minConcurrency * Double(max(1, all))
  }

  /// `statement`: the program's own statement about the objects. `snapshot`: the number of the image that has the
  /// objects, if it is not the report's own.
  private func findings(
    of groups: [SurvivorGroup], statement: Finding.Statement? = nil, snapshot: UInt32? = nil
  ) -> [Finding] {
    var numbers: [[String]: Int] = [:]
    var findings: [Finding] = []
    var sites: [Set<UInt32>] = []
    for group in withoutSecondHolders(GroupCauses(finder, naming: naming, holders: holders).causes(groups)) {
      var finding = finding(group, snapshot: snapshot) { retention, siblings in
        let survivors = Finding.Survivors(retention: retention, siblings: siblings, quarters: quarters(group))
        return statement.map { .stated($0, survivors) } ?? .suspected(suspicion(group), survivors)
      }
      // A statement is the program's own, so the finding counts as the program's.
      if statement != nil { finding.owner = .program }
      let identity = FindingIdentity(finding)
      let parts = identity.parts
      if let known = numbers[parts] {
        merge(finding, into: &findings[known])
        log?.settle(group, findings[known].isWeak ? .weak : .listed)
        if !sites[known].isSuperset(of: group.sites) {
          sites[known].formUnion(group.sites)
          count(instancesOf: sites[known], in: &findings[known])
        }
        continue
      }
      // Closures and tasks are reported only if no finding of objects has the same holder.
      if finding.path.last?.kind != .object,
        findings.contains(where: { $0.path.last?.kind == .object && isSameHolder($0, finding) })
      {
        log?.notePart(ofAnotherFinding: group)
        continue
      }
      finding.fingerprint = identity.fingerprint
      finding.advice = Advice.advice(for: finding, AdviceEvidence(naming))
      numbers[parts] = findings.count
      findings.append(finding)
      sites.append(Set(group.sites))
      log?.settle(group, finding.isWeak ? .weak : .listed)
    }
    return findings
  }

  private func isSameHolder(_ a: Finding, _ b: Finding) -> Bool {
    let (own, other) = (a.evidence.retention, b.evidence.retention)
    if own?.holder == other?.holder { return true }
    // Each task group has results of its own.
    return own?.registration != nil && own?.registration != .taskGroup && own?.registration == other?.registration
  }

  private func merge(_ other: Finding, into finding: inout Finding) {
    finding.instances += other.instances
    finding.retainedBytes.rawValue &+= other.retainedBytes.rawValue
    finding.retainedBlocks &+= other.retainedBlocks
    switch (finding.evidence, other.evidence) {
    case (.suspected(let suspicion, var survivors), .suspected(_, let added)):
      survivors.add(added)
      finding.evidence = .suspected(suspicion, survivors)
    case (.stated(let statement, var survivors), .stated(_, let added)):
      survivors.add(added)
      finding.evidence = .stated(statement, survivors)
    default: break
    }
  }

  /// Counts all instances that some sites made, for a finding that joins several groups.
  private func count(instancesOf sites: Set<UInt32>, in finding: inout Finding) {
    var family = SurvivorFinder.Family()
    family.sites = sites.sorted()
    family.lifetime = family.sites.reduce(into: SiteLifetime()) { $0 += model.trace.sites[Int($1)].lifetime }
    finding.evidence.updateSiblings { ($0.births, $0.deaths) = (family.lifetime.births, family.lifetime.deaths) }
    guard case .suspected(var suspicion, let survivors) = finding.evidence else { return }
    suspicion.figures?.live = finder.population(family, until: model.activations.ordinal).quarters
    if family.lifetime.deaths > 0 { suspicion.figures?.longestLifetime = longestLifetime(family.lifetime) }
    finding.evidence = .suspected(suspicion, survivors)
  }

  // MARK: Scopes and expectations

  /// Returns findings of scopes that left objects behind, for the objects that are still live.
  func scopeFindings() -> [Finding] {
    model.statements.scopes.flatMap { scope -> [Finding] in
      guard !scope.rest.isEmpty else { return [] }
      var nodes: [NodeID] = []
      var first: [NodeID: UInt64] = [:]
      for (block, run) in scope.rest {
        guard let node = node(of: block) else { continue }
        nodes.append(node)
        first[node] = run
      }
      let statement = Finding.Statement.scope(
        Finding.ScopeRest(
          place: scope.place, executions: scope.executions, executionsWithRest: scope.executionsWithRest,
          grace: duration(scope.grace)))
      let groups = finder.groups(of: nodes) { steps, shared in holders.registration(steps, after: shared) }
      return findings(
        of: groups.filter { group in
          // Objects that only the first run makes are no leak of every run.
          scope.executions < rules.minScopeRuns || group.survivors.contains { first[$0] != 0 }
        }, statement: statement)
    }
  }

  /// Returns findings of expectations that were not met, for the objects that are still live. `totals`: the final
  /// outcomes, if this image was taken when an expectation was not met. Only expectations of `places` are reported.
  /// `dueAfter`: by place, a time. Only objects that became due later are reported.
  func expectationFindings(
    _ totals: [ExpectationOutcome]? = nil, places: Set<MarkPlace>? = nil, dueAfter: [MarkPlace: UInt64] = [:]
  ) -> [Finding] {
    model.statements.expectations.flatMap { outcome -> [Finding] in
      let total = totals?.first { $0.place == outcome.place } ?? outcome
      guard total.violated + total.late > 0, places?.contains(outcome.place) ?? true else { return [] }
      let earliest = dueAfter[outcome.place] ?? 0
      let nodes = outcome.rest.filter { $0.deadline > earliest }.compactMap { node(of: $0.block) }
        .filter { !graph.deinitialised.contains($0) }
      let statement = Finding.Statement.expectation(
        Finding.BrokenExpectation(
          place: outcome.place, met: total.met, late: total.late, violated: total.violated,
          longestDelay: total.late > 0 ? duration(total.longestDelay) : nil))
      return findings(
        of: finder.groups(of: nodes) { steps, shared in holders.registration(steps, after: shared) },
        statement: statement, snapshot: totals == nil ? nil : model.snapshot.number)
    }
  }

  /// Returns the node of a block; nil if the block is not live in this image.
  private func node(of block: LiveBlock) -> NodeID? {
    guard let found = graph.heap.block(containing: block.address), graph.heap[found].address == block.address,
      graph.heap[found].ordinal == block.ordinal
    else { return nil }
    return found.rawValue
  }

  // MARK: Whose work it is

  func origin(_ site: SiteID) -> SurvivorFinder.AllocationOrigin {
    let frames = naming.frames(of: site)
    let program = frames.firstIndex { $0.kind == .user }
    let outer = program.map { frames[$0...] } ?? []
    // Objects that a library makes for itself on the way are the library's. The caller of an initialiser makes the
    // object.
    let type =
      model.trace.sites.indices.contains(Int(site.rawValue))
      ? model.trace.definitions.types[model.trace.sites[Int(site.rawValue)].type]?.name : nil
    let head = TypeNames.unqualified(type ?? "").prefix { $0 != "<" }
    let isDirect = frames.prefix(program ?? 0).allSatisfy { frame in
      AllocationFunctions.isOne(frame) || frame.kind == .thunk
        || !head.isEmpty && DeclarationName.isInitialiser(frame.function, of: head)
        || AllocationFunctions.isTransparent(frame) && !frame.function.contains("sleep")
    }
    return .init(
      isProgram: program != nil && isDirect, isCalledBack: outer.contains { AllocationFunctions.callsBack($0) },
      hasUnit: hasUnit(site, frames))
  }

  /// Returns the program's function, file and line that make the objects of a site.
  private func line(_ site: SiteID) -> String? {
    guard let type = model.trace.definitions.types[model.trace.sites[Int(site.rawValue)].type],
      let frame = naming.allocation(site, of: TypeNames.type(type)), let file = frame.file, let line = frame.line
    else { return nil }
    return "\(StableName.of(frame)) \(file):\(line)"
  }

  private func hasUnit(_ site: SiteID, _ frames: [SourceFrame]) -> Bool {
    if frames.contains(where: {
      $0.kind != .user && ($0.function.contains("Decoder") || $0.function.contains("decode"))
    }) {
      return false
    }
    return frames.contains { frame in
      // Objects that an initialiser makes belong to the new object.
      frame.kind == .user && !DeclarationName.isInitialiser(frame.function) && frame.mangledName != "main"
        && !frame.function.hasSuffix(".main()")
        && !frame.function.hasSuffix("$main()")
    }
  }

  // MARK: One group

  /// Returns the finding of a group, without its fingerprint and advice. `snapshot`: the number of the group's image,
  /// if it is not the report's own.
  func finding(
    _ group: SurvivorGroup, snapshot: UInt32? = nil,
    evidence: (Finding.Retention, Finding.Siblings) -> Finding.Evidence
  ) -> Finding {
    let registration = holders.registration(group.path, after: 0).flatMap { $0.index == group.suspect ? $0.kind : nil }
    let steps = Array(group.path.dropFirst())
    let named = paths.path(steps, from: group.path[0].node, isListed: model.isListed)
    let end = commonEnd(steps)
    let origin = end.map(origin(before:)) ?? naming.origin(group.path[0].node, target: steps.first?.node)
    let seconds = group.survivors.compactMap { node -> Double? in
      if model.isListed(graph.heap[BlockID(node)]) { return nil }
      return model.trace.clock.seconds(at: model.snapshot.time).flatMap { end in
        model.trace.clock.seconds(at: graph.heap[BlockID(node)].birthTime).map { max(0, end - $0) }
      }
    }
    let retention = Finding.Retention(
      origin: origin,
      holder: holders.name(
        group.path, suspect: group.suspect, registration: registration, named: named, origin: origin),
      ownHolder: registration == nil
        ? holders.ownName(group.path, suspect: group.suspect, named: named, origin: origin) : nil,
      registration: registration, isBeyondReach: group.isBeyondReach ? true : nil,
      letGo: group.letGo, isCancelled: group.isCancelled ? true : nil, end: end,
      isMadeInSeveralPlaces: isMadeInSeveralPlaces(group),
      suspect: letGoStep(registration, suspectStep(group, named), named), snapshot: snapshot,
      ages: seconds.min().flatMap { youngest in
        seconds.max().map { Finding.Ages(youngest: youngest, oldest: $0) }
      })
    return Finding(
      evidence: evidence(retention, siblings(group)),
      owner: owner.libraryReason(group, registration).map { .library(reason: $0) } ?? .program,
      instances: group.survivors.count,
      retainedBytes: ByteCount(group.retainedBytes), retainedBlocks: group.retainedBlocks, path: named,
      subject: subject(of: group, named), origins: naming.origins(of: group.survivors))
  }

  /// Returns the end of the objects of a rebuilt heap. `steps`: the path from the first object.
  private func commonEnd(_ steps: [LeakGroup.Step]) -> Finding.CommonEnd? {
    guard let earlier = model.earlier, let first = steps.first?.node else { return nil }
    let stack = earlier.stack(ofEndOf: graph.heap[BlockID(first)]) {
      // The roots of the rebuilt heap.
      (NodeID(graph.blockCount)..<NodeID(graph.graph.nodeCount)).flatMap { root in
        graph.graph.edges(from: root).map { graph.heap[BlockID(graph.graph.target(of: $0))] }
      }
    }
    let places = RetainPlaces(model.trace.definitions, naming: naming.naming)
    let frames = stack.map { places.reportFrames(of: $0).frames.map(\.source) } ?? []
    // The function that let go of the outermost object, and not a `deinit` on the way.
    let place = frames.first { $0.kind == .user && !$0.function.hasSuffix("deinit") }
    return Finding.CommonEnd(place: place, owner: graph.type(of: first).name)
  }

  /// Returns the root of a rebuilt heap: a variable of the function that let go of the first object.
  private func origin(before end: Finding.CommonEnd) -> PathOrigin {
    PathOrigin(kind: .stack, name: end.place.map { "a variable in \($0.function)" } ?? "a variable")
  }

  private func siblings(_ group: SurvivorGroup) -> Finding.Siblings {
    let lifetime = group.lifetime
    return Finding.Siblings(
      births: lifetime.births, deaths: lifetime.deaths, scope: homeScope(group),
      scopeShare: Int((group.homeDistance.map { lifetime.departures.share(within: $0) } ?? 0) * 100),
      lifetime: lifetime.deaths == 0
        ? nil : lifetime.durations.bound(of: 0.9).flatMap { $0 == .max ? nil : duration($0).map { max($0, 1e-6) } })
  }

  private func suspicion(_ group: SurvivorGroup) -> Finding.Suspicion {
    Finding.Suspicion(
      kind: group.verdict == .accumulating ? .accumulating : .outlived,
      figures: Finding.Figures(
        strength: group.evidence.isStrong ? .strong : .weak, chance: group.evidence.odds?.chance,
        longestLifetime: longestLifetime(group.lifetime), live: group.evidence.live))
  }

  /// Returns the longest lifetime in seconds; nil if no object ended.
  private func longestLifetime(_ lifetime: SiteLifetime) -> Double? {
    lifetime.deaths == 0 ? nil : duration(lifetime.longestDuration).map { max($0, 1e-6) }
  }

  /// Returns the subject of survivors that are not the program's own objects.
  private func subject(of group: SurvivorGroup, _ named: [Finding.Step]) -> Finding.Subject? {
    guard !naming.isOwn(group.sample) else { return nil }
    let search = SubjectSearch(graph, naming: naming)
    if let found = search.subject(of: group.survivors, sample: group.sample, isKept: leads) { return found.subject }
    return named.last?.library == nil ? nil : search.element(of: named[...])
  }

  /// Returns whether the path to an object leads through its wrapper.
  private func leads(to object: NodeID, through wrapper: NodeID) -> Bool {
    var current = object
    for _ in 0..<Self.wrapperDepth {
      current = ownership.paths.parents[current]
      if current == wrapper { return true }
      if current == HeapGraph.noNode || graph.isRoot(current) { return false }
    }
    return false
  }

  /// Maximum number of blocks between a wrapper and its subject.
  private static let wrapperDepth = 64

  /// Omits groups that a library's memory holds, if the program's memory holds the same objects. For example, a
  /// subject's list of subscribers has the closures of the tokens that the program keeps.
  private func withoutSecondHolders(_ groups: [SurvivorGroup]) -> [SurvivorGroup] {
    guard groups.count > 1 else { return groups }
    let isForeign = groups.map { !naming.isOwn($0.sample) && holders.isOfLibrary($0.path, suspect: $0.suspect) }
    guard isForeign.contains(true) else { return groups }
    let search = SubjectSearch(graph, naming: naming)
    let objects = groups.map { group in
      naming.isOwn(group.sample)
        ? Set(group.survivors) : search.subject(of: group.survivors, sample: group.sample) { _, _ in true }?.nodes ?? []
    }
    return groups.indices.filter { index in
      guard isForeign[index], !objects[index].isEmpty else { return true }
      let isSecond = groups.indices.contains { other in
        !isForeign[other]
          && Double(objects[index].intersection(objects[other]).count) >= rules.ownedShare
            * Double(objects[index].count)
      }
      if isSecond { log?.notePart(ofAnotherFinding: groups[index]) }
      return !isSecond
    }.map { groups[$0] }
  }

  /// Returns whether different functions of the program make the objects of a group's sites.
  private func isMadeInSeveralPlaces(_ group: SurvivorGroup) -> Bool {
    var functions: Set<String> = []
    let type = graph.type(of: group.sample)
    for site in group.sites.prefix(Self.namedSites) where model.trace.sites.indices.contains(Int(site)) {
      functions.insert(StableName.of(naming.allocation(SiteID(site), of: type)))
      if functions.count > 1 { return true }
    }
    return false
  }

  /// Maximum number of sites of a finding that are named.
  private static let namedSites = 1_000

  /// Returns the index, in the named path, of the object that the suspect reference leads to. The named path omits
  /// thunks, and long paths are shortened.
  private func suspectStep(_ group: SurvivorGroup, _ named: [Finding.Step]) -> Int {
    for step in group.path[(group.suspect + 1)...] {
      let address = RuntimeAddress(graph.heap[BlockID(step.node)].address)
      if let index = named.firstIndex(where: { $0.address == address }) { return index }
    }
    return max(0, named.count - 1)
  }

  /// Returns the index of the step behind the program's own reference. After a registration, the library's own tables
  /// come first on the path. The program's reference is the capture of its closure, or the reference to its object.
  private func letGoStep(_ registration: Finding.Registration?, _ suspect: Int, _ named: [Finding.Step]) -> Int {
    guard registration != nil else { return suspect }
    return named.indices.dropFirst(suspect).first { index in
      if index > 0, named[index].kind != .closure, named[index - 1].reference?.isClosure == true,
        named[index - 1].reference?.closure?.kind == .user
      {
        return true
      }
      let step = named[index]
      return step.kind == .object && !SystemCode.isSystemModule(String(step.qualifiedType.prefix { $0 != "." }))
    } ?? suspect
  }

  private func duration(_ ticks: UInt64) -> Double? {
    let start = model.snapshot.time &- min(ticks, model.snapshot.time)
    guard let from = model.trace.clock.seconds(at: start), let to = model.trace.clock.seconds(at: model.snapshot.time)
    else { return nil }
    return to - from
  }

  /// Minimum share of the siblings that end within a scope, so that a report names the scope.
  private static let minScopeShare = 0.9

  /// Returns the program's function whose call still runs when nearly all siblings have ended. This call was running
  /// when the siblings were made.
  private func homeScope(_ group: SurvivorGroup) -> SourceFrame? {
    // In a group of several families, some siblings may end elsewhere.
    guard let distance = group.homeDistance, group.lifetime.departures.share(within: distance) >= Self.minScopeShare
    else { return nil }
    let site = graph.heap[BlockID(group.sample)].site
    let path = model.trace.definitions.stacks.path(of: model.trace.sites[Int(site.rawValue)].stack)
    // Control has left this number of innermost frames. The function of the next outer frame still runs.
    let index = Int(distance)
    guard index < path.frames.count else { return nil }
    let frame = path.frames[index]
    let names = naming.frames(for: frame)
    guard let outermost = names.last(where: { $0.kind == .user }) else { return nil }
    return outermost.function.hasPrefix("main") || outermost.mangledName == "main" ? nil : outermost
  }

  /// Returns the number of survivors made so far, after each quarter of the work since the first of them. Work is
  /// counted in events of the process, so a slow machine or a wait at the end makes no difference. Counted in time,
  /// slow first calls would put all births into the last quarter, and a wait would put them into the first.
  private func quarters(_ group: SurvivorGroup) -> [Int] {
    let births = group.survivors.map { graph.heap[BlockID($0)].ordinal }
    guard let first = births.min(), model.activations.ordinal > first, births.count >= 8 else { return [] }
    let length = model.activations.ordinal - first
    return (1...4).map { part in births.filter { $0 - first <= length / 4 * UInt64(part) || part == 4 }.count }
  }
}
