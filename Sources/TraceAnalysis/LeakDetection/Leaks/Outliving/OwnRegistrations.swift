// Finds out whether objects have registrations of their own, which no other code can end.

import HeapAnalysis
import PlatformRules
import TraceSymbolication

extension OutlivingFinder {
  /// The survivors with registrations of their own that no other code can end; nil if there are too few.
  func ownOnes(
    _ kind: Finding.Registration, _ nodes: [NodeID], _ suspicion: Suspicion, _ members: Set<NodeID>,
    _ counts: PathCounts, _ paths: RetainPaths, _ registration: RegistrationSearch
  ) -> [NodeID]? {
    guard suspicion.ownKinds.isEmpty || suspicion.ownKinds.contains(kind),
      let own = own(kind, nodes, members, counts, paths, registration)
    else {
      note(.registered, .excludes, "\(nodes.count) instances")
      return nil
    }
    // A thread may just be working with one of them, or a word be left over on its stack.
    guard
      holds(
        kind == .task ? .ownTasks : .ownTimers, own.count >= min(suspicion.least, nodes.count - 1),
        "\(own.count) of \(nodes.count) instances")
    else { return nil }
    // A pool of workers waits for work, and only some of them sleep in it.
    if kind == .task, !suspicion.ownKinds.isEmpty,
      !holds(
        .ownTasks, Double(own.count) >= rules.leastAsleep * Double(nodes.count),
        "\(own.count) of \(nodes.count) instances")
    {
      return nil
    }
    return own
  }

  /// The survivors with a task of their own, if the program let go of at least half of those looked at; and the function
  /// that let go of most.
  func lettingGo(
    of nodes: [NodeID], _ suspicion: Suspicion, _ members: Set<NodeID>, _ counts: PathCounts, _ paths: RetainPaths,
    _ registration: RegistrationSearch
  ) -> (own: [NodeID], place: SourceFrame)? {
    guard let lettingGo else { return nil }
    let (own, withHandle) = haveOwnTask(nodes, members, counts, paths, registration)
    guard own.count >= suspicion.least else { return nil }
    let sample = someOf(own)
    let last = max(suspicion.family.lifetime.lastBirth, suspicion.family.lifetime.lastDeath)
    let lifetime = suspicion.family.lifetime
    guard let life = lifetime.durations.bound(of: Self.median), let work = lifetime.work.bound(of: Self.median) else {
      return nil
    }
    let lives = LettingGo.Lives(
      half: life, halfWork: Double(work) / 64, longest: lifetime.longestDuration,
      longestWork: Double(lifetime.longestWork))
    let letGo = lettingGo.releases(of: sample).filter { node, release in
      // An owner that lives until the program ends lets go then.
      let isBeforeEnd = release.time < last || lettingGo.workLeft(at: release.time) >= rules.leastRemainingWork
      guard isBeforeEnd || release.isElsewhere && !release.isOfEnd else { return false }
      let owned = lettingGo.work(from: release.time - min(release.time, release.span), to: release.time)
      guard lives.isOwned(for: release.span, work: owned, share: rules.leastOwnedSpan) else { return false }
      // Code that has the task's handle may be about to cancel it.
      let now = graph.snapshot.time
      return !withHandle.contains(node) || now - min(now, release.time) > lives.longest
    }
    var places: [SourceFrame: Int] = [:]
    for (_, release) in letGo { places[release.place, default: 0] += 1 }
    // Names and lines decide between equal numbers, and never the order of a dictionary.
    let most = places.min {
      (-$0.value, $0.key.fullFunction, $0.key.line ?? 0) < (-$1.value, $1.key.fullFunction, $1.key.line ?? 0)
    }
    let isLetGo = letGo.count >= max(suspicion.least - 1, sample.count / 2)
    guard holds(.letGo, isLetGo, "\(letGo.count) of \(sample.count) instances"), let most else { return nil }
    return (own, most.key)
  }

  /// Survivors from all of the run, few enough to read the history of each.
  func someOf(_ survivors: [NodeID]) -> [NodeID] {
    guard survivors.count > Self.historyLimit else { return survivors }
    return (0..<Self.historyLimit).map { survivors[$0 * survivors.count / Self.historyLimit] }
  }

  private static let median = 0.5
  /// Survivors of one family whose histories are read.
  private static let historyLimit = 48

  /// Returns the survivors that each have a registration of their own which no other code can end. Nil if an image does
  /// not show who can end registrations of this kind.
  func own(
    _ kind: Finding.Registration, _ survivors: [NodeID], _ members: Set<NodeID>, _ counts: PathCounts,
    _ paths: RetainPaths, _ registration: RegistrationSearch
  ) -> [NodeID]? {
    switch kind {
    case .task: return ownTasks(survivors, members, counts, paths, registration)
    case .timer, .dispatchSource: return ownHandles(survivors, members, counts, paths, registration, except: [])
    case .observer:
      let own = ownHandles(survivors, members, counts, paths, registration, except: observerCenters())
      let others = withoutTokens(survivors, members, counts, paths, registration)
      return own.count > others.count ? own : others
    case .observation, .fileHandle, .dispatchWork, .taskGroup, .eventLoop, .urlSession, .thread: return nil
    }
  }

  /// The survivors that hang from a task of their own. No other code has the task's handle, so none can cancel it. The
  /// tasks sleep again and again. Work that is under way ends by itself.
  private func ownTasks(
    _ survivors: [NodeID], _ members: Set<NodeID>, _ counts: PathCounts, _ paths: RetainPaths,
    _ registration: RegistrationSearch
  ) -> [NodeID] {
    let alone = tasks(of: survivors, members, counts, paths, registration).filter { !canBeCancelled($0.key) }
    // Without the program's code, the sleeps that have ended tell.
    guard alone.keys.allSatisfy({ waiting.isInLoop($0) != nil }) else {
      return haveSlept(alone.keys) ? Array(alone.values) : []
    }
    // On a busy machine some of them wait for a processor, or for a job that resumes them. These wait where others sleep.
    let sleeps = Set(alone.keys.filter(waiting.isAsleep).map { graph.resumptions(of: $0) })
    let tasks = alone.filter { task, _ in
      waiting.isInLoop(task) == true
        && (graph.taskStates[task] == nil || waiting.isInSleep(task) || sleeps.contains(graph.resumptions(of: task)))
    }
    // The time of all their sleeps may be over, and none has a processor yet.
    let haveSlept = tasks.keys.contains { waiting.isAsleep($0) || waiting.isInSleep($0) } || haveSlept(tasks.keys)
    return haveSlept ? Array(tasks.values) : []
  }

  /// The tasks that each keep one of the survivors alone, with that one.
  private func tasks(
    of survivors: [NodeID], _ members: Set<NodeID>, _ counts: PathCounts, _ paths: RetainPaths,
    _ registration: RegistrationSearch
  ) -> [NodeID: NodeID] {
    var kept: [NodeID: [NodeID]] = [:]
    for node in survivors.prefix(Self.detailLimit) {
      guard let holding = holding(node, members, counts, paths, registration), holding.isRegistered else { continue }
      let place = holding.steps[holding.suspect].node
      let task = graph.taskOfSlab[place] ?? place
      // Another registration may keep one of them.
      if !graph.isRoot(task), graph.type(of: task).kind == .task { kept[task, default: []].append(node) }
    }
    return kept.filter { $0.value.count == 1 }.mapValues { $0[0] }
  }

  /// Survivors that only a task of their own keeps, in their order. `withHandle`: the survivors whose task other code can
  /// cancel. The tasks wait for a continuation, and no job that is about to run resumes them. A task that waits for a
  /// processor may be about to end, and one that waits for another task ends after that one.
  func haveOwnTask(
    _ survivors: [NodeID], _ members: Set<NodeID>, _ counts: PathCounts, _ paths: RetainPaths,
    _ registration: RegistrationSearch
  ) -> (own: [NodeID], withHandle: Set<NodeID>) {
    let kept = tasks(of: survivors, members, counts, paths, registration).filter { task, node in
      guard graph.taskStates[task] == .waiting(.continuation), !waiting.isAboutToGoOn(task) else { return false }
      return ownership.isOnlyHeld(node, through: task)
    }
    let own = Set(kept.values)
    return (survivors.filter(own.contains), Set(kept.filter { canBeCancelled($0.key) }.values))
  }

  /// Tells whether other code than the task's own can lead to its handle. An object that only the task keeps cannot give
  /// the handle away.
  private func canBeCancelled(_ task: NodeID) -> Bool {
    waiting.handleOwners(of: task).contains { owner in
      !TaskHandles.isContinuation(from: owner, to: task, in: graph)
        && (graph.isRoot(owner) || !ownership.isOnlyHeld(owner, through: task))
    }
  }

  /// At least as many sleeps have ended as there are tasks.
  private func haveSlept(_ tasks: some Collection<NodeID>) -> Bool {
    let places = Set(tasks.compactMap { waiting.sleep(of: $0) }.map { block($0).site.rawValue })
    return places.reduce(UInt64(0)) { $0 &+ sites[Int($1)].lifetime.deaths } >= UInt64(tasks.count)
  }

  /// The survivors that only a timer or an observer of their own keeps. Nothing but the survivor leads code to it.
  /// `others`: nodes that have registrations, and give them to no code.
  private func ownHandles(
    _ survivors: [NodeID], _ members: Set<NodeID>, _ counts: PathCounts, _ paths: RetainPaths,
    _ registration: RegistrationSearch, except others: Set<NodeID>
  ) -> [NodeID] {
    var handles: [NodeID: NodeID] = [:]
    for node in survivors.prefix(Self.detailLimit) {
      guard let holding = holding(node, members, counts, paths, registration), holding.isRegistered else {
        continue
      }
      let handle = holding.steps[holding.suspect].node
      if ownership.isOnlyHeld(node, through: handle) { handles[handle] = node }
    }
    guard !handles.isEmpty else { return [] }
    let standIns = standIns(for: handles)
    // Each of several registrations hardly has a variable of its own.
    for node in 0..<NodeID(graph.blockCount) {
      let type = graph.type(of: node)
      // What a library's own object has, it does not give to the program.
      guard type.kind.isCounted, type.kind != .object || isProgramObject(node), !unreachable.contains(node),
        !others.contains(node)
      else { continue }
      for edge in graph.graph.edges(from: node) {
        let target = graph.graph.target(of: edge)
        let handle = standIns[target] ?? target
        if handles[handle] != nil, !ownership.isOnlyHeld(node, through: handle) { handles[handle] = nil }
      }
    }
    return Array(handles.values)
  }

  /// The library objects that represent registrations in memory of C code: an object leads to a source, and that to its
  /// timer. By object, the registration.
  private func standIns(for handles: [NodeID: NodeID]) -> [NodeID: NodeID] {
    func handle(from node: NodeID, depth: Int) -> NodeID? {
      for edge in graph.graph.edges(from: node) {
        let target = graph.graph.target(of: edge)
        guard !graph.isRoot(target), graph.type(of: target).kind == .malloc else { continue }
        if handles[target] != nil { return target }
        if depth > 0, let found = handle(from: target, depth: depth - 1) { return found }
      }
      return nil
    }
    var standIns: [NodeID: NodeID] = [:]
    for node in 0..<NodeID(graph.blockCount)
    where graph.type(of: node).kind == .object && !isProgramObject(node) && !unreachable.contains(node) {
      guard Registrations.kind(ofType: graph.type(of: node).qualifiedName) != nil else { continue }
      standIns[node] = handle(from: node, depth: 1)
    }
    return standIns
  }

  /// The survivors that only a centre keeps which many share, if at least half of their observers have no token that other
  /// code could remove them by: all but as many as there are tokens besides those that the survivors have themselves.
  private func withoutTokens(
    _ survivors: [NodeID], _ members: Set<NodeID>, _ counts: PathCounts, _ paths: RetainPaths,
    _ registration: RegistrationSearch
  ) -> [NodeID] {
    let kept = survivors.prefix(Self.detailLimit).filter { node in
      holding(node, members, counts, paths, registration).map {
        $0.isRegistered && ownership.isOnlyHeld(node, through: $0.steps[$0.suspect].node)
      } ?? false
    }
    var tokens: [NodeID?: Int] = [:]
    for node in 0..<NodeID(graph.blockCount)
    where graph.type(of: node).kind == .object && Self.tokens.matches(graph.type(of: node).qualifiedName) {
      if unreachable.contains(node) || ownership.isDominated(node, by: members) { continue }
      tokens[owner(of: node), default: 0] += 1
    }
    guard !tokens.isEmpty else { return kept }
    // An object that is an observer itself has tokens for that.
    let observers = observers()
    let spare = tokens.reduce(0) { sum, entry in
      sum + max(0, entry.value - (entry.key.flatMap { observers[$0] } ?? 0))
    }
    return spare * 2 <= kept.count ? kept : []
  }

  /// The closures that have centres call an object of the program's: their number, by object. A weak capture counts.
  private func observers() -> [NodeID: Int] {
    let centers = observerCenters()
    var observers: [NodeID: Int] = [:]
    for center in centers {
      for edge in graph.graph.edges(from: center) {
        var pending = [graph.graph.target(of: edge)]
        var seen: Set<NodeID> = []
        while let node = pending.popLast(), seen.count < Self.closureLimit {
          guard !graph.isRoot(node), !centers.contains(node), seen.insert(node).inserted else { continue }
          if isProgramObject(node) {
            observers[node, default: 0] += 1
          } else if [.closure, .box, .sideTable].contains(graph.type(of: node).kind) {
            pending += graph.graph.edges(from: node).map { graph.graph.target(of: $0) }
          }
        }
      }
    }
    return observers
  }

  /// Closures, boxes and objects that are looked at for one observer.
  private static let closureLimit = 16

  private static let tokens = RuleBook.shipped.table(.token, by: .type)
}
