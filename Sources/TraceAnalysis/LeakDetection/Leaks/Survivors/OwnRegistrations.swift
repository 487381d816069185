// Finds objects with registrations of their own that no other code can end.

import HeapAnalysis
import PlatformRules
import TraceSymbolication

extension SurvivorFinder {
  /// Returns the survivors with registrations of their own that no other code can end; nil if there are too few.
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
    // One survivor may lack a registration: a thread may be working with it, or a stale word on a stack may hold it.
    guard
      holds(
        kind == .task ? .ownTasks : .ownTimers, own.count >= min(suspicion.least, nodes.count - 1),
        "\(own.count) of \(nodes.count) instances")
    else { return nil }
    // Workers in a pool wait for work, and only some of them are asleep then.
    if kind == .task, !suspicion.ownKinds.isEmpty,
      !holds(
        .ownTasks, Double(own.count) >= rules.minAsleep * Double(nodes.count),
        "\(own.count) of \(nodes.count) instances")
    {
      return nil
    }
    return own
  }

  /// Returns the survivors with a task of their own, and the function that released most of them. Nil unless the
  /// program released at least half of the examined survivors. If the program cancelled the tasks, no function is
  /// needed: see `isCancelledInVain`.
  func lettingGo(
    of nodes: [NodeID], _ suspicion: Suspicion, _ members: Set<NodeID>, _ counts: PathCounts, _ paths: RetainPaths,
    _ registration: RegistrationSearch
  ) -> (own: [NodeID], place: SourceFrame?)? {
    let (own, withHandle, inVain) = haveOwnTask(nodes, members, counts, paths, registration)
    guard own.count >= suspicion.least else { return nil }
    // A task that is no older than others got may be about to end.
    let now = graph.snapshot.time
    let cancelled = inVain.filter { node in
      now - min(now, block(node).birthTime) > suspicion.family.lifetime.longestDuration
    }
    if cancelled.count >= suspicion.least {
      note(.cancelled, .supports, "\(cancelled.count) of \(own.count) instances")
      return (cancelled, nil)
    }
    guard let lettingGo else { return nil }
    let sample = someOf(own)
    let last = suspicion.family.lifetime.lastTime
    let lifetime = suspicion.family.lifetime
    guard let life = lifetime.durations.bound(of: Self.median), let work = lifetime.work.bound(of: Self.median) else {
      return nil
    }
    let lives = LettingGo.Lives(
      half: life, halfWork: Double(work) / 64, longest: lifetime.longestDuration,
      longestWork: Double(lifetime.longestWork))
    let letGo = lettingGo.releases(of: sample).filter { node, release in
      // An owner that lives until the program ends releases its objects then.
      let isBeforeEnd = release.time < last || lettingGo.workLeft(at: release.time) >= rules.minRemainingWork
      guard isBeforeEnd || release.isElsewhere && !release.isOfEnd else { return false }
      let owned = lettingGo.work(from: release.time - min(release.time, release.span), to: release.time)
      guard lives.isOwned(for: release.span, work: owned, share: rules.minOwnedSpan) else { return false }
      // Code that has the task's handle may be about to cancel it.
      let now = graph.snapshot.time
      return !withHandle.contains(node) || now - min(now, release.time) > lives.longest
    }
    let most = LettingGo.places(letGo.map(\.release)).first
    let isLetGo = letGo.count >= max(suspicion.least - 1, sample.count / 2)
    guard holds(.letGo, isLetGo, "\(letGo.count) of \(sample.count) instances"), let most else { return nil }
    return (own, most.place)
  }

  /// Returns survivors from all parts of the run, few enough to read the history of each.
  func someOf(_ survivors: [NodeID]) -> [NodeID] {
    guard survivors.count > Self.historyLimit else { return survivors }
    return (0..<Self.historyLimit).map { survivors[$0 * survivors.count / Self.historyLimit] }
  }

  private static let median = 0.5
  /// Maximum number of survivors of one family whose histories are read.
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

  /// Returns the survivors that a task of their own keeps. No other code has the handle of the task or of a task above
  /// it, so no other code can cancel the task. The tasks sleep again and again. Other work under way ends by itself.
  private func ownTasks(
    _ survivors: [NodeID], _ members: Set<NodeID>, _ counts: PathCounts, _ paths: RetainPaths,
    _ registration: RegistrationSearch
  ) -> [NodeID] {
    let alone = tasks(of: survivors, members, counts, paths, registration).filter { !canBeCancelled($0.key) }
    // If the program's code does not show loops, the number of ended sleeps decides.
    guard alone.keys.allSatisfy({ waiting.isInLoop($0) != nil }) else {
      return haveSlept(alone.keys) ? Array(alone.values) : []
    }
    // On a busy machine, some tasks wait for a processor, or for a job that resumes them. They wait where other tasks
    // sleep.
    let sleeps = Set(alone.keys.filter(waiting.isAsleep).map { graph.resumptions(of: $0) })
    let tasks = alone.filter { task, _ in
      waiting.isInLoop(task) == true
        && (graph.taskStates[task] == nil || waiting.isInSleep(task) || sleeps.contains(graph.resumptions(of: task)))
    }
    // The time of all sleeps may be over, while none of the tasks has a processor yet. Then ended sleeps decide.
    let haveSlept =
      tasks.keys.contains { waiting.isAsleep($0) || waiting.isInSleep($0) }
      || tasks.keys.contains { waiting.endedSleeps($0) >= UInt64(tasks.count) }
    return haveSlept ? Array(tasks.values) : []
  }

  /// Returns the tasks that each keep only one of the survivors, with that survivor.
  private func tasks(
    of survivors: [NodeID], _ members: Set<NodeID>, _ counts: PathCounts, _ paths: RetainPaths,
    _ registration: RegistrationSearch
  ) -> [NodeID: NodeID] {
    var kept: [NodeID: [NodeID]] = [:]
    for node in survivors.prefix(Self.detailLimit) {
      guard let holding = holding(node, members, counts, paths, registration), holding.isRegistered else { continue }
      let place = holding.steps[holding.suspect].node
      let task = graph.taskOfSlab[place] ?? place
      // Another registration may keep one of the survivors.
      if !graph.isRoot(task), graph.type(of: task).kind == .task { kept[task, default: []].append(node) }
    }
    return kept.filter { $0.value.count == 1 }.mapValues { $0[0] }
  }

  /// Returns the survivors that only a task of their own keeps, in their order. `withHandle`: the survivors whose task
  /// other code can cancel. The tasks wait for a continuation, and no job that is about to run resumes them. A task
  /// that waits for a processor may be about to end. A task that waits for another task ends after that one.
  func haveOwnTask(
    _ survivors: [NodeID], _ members: Set<NodeID>, _ counts: PathCounts, _ paths: RetainPaths,
    _ registration: RegistrationSearch
  ) -> (own: [NodeID], withHandle: Set<NodeID>, cancelled: [NodeID]) {
    let waitingOnes = tasks(of: survivors, members, counts, paths, registration).filter { task, _ in
      graph.taskStates[task] == .waiting(.continuation) && !waiting.isAboutToGoOn(task)
    }
    var kept = waitingOnes.filter { task, node in ownership.isOnlyHeld(node, through: task) }
    let others = waitingOnes.filter { kept[$0.key] == nil }
    if !others.isEmpty {
      kept.merge(besideStaleWords(others, members, counts, paths, registration)) { own, _ in own }
    }
    let own = Set(kept.values)
    let withHandle = Set(kept.filter { canBeCancelled($0.key) }.values)
    let cancelled = Set(kept.filter { isCancelledInVain($0.key) }.values).subtracting(withHandle)
    return (survivors.filter(own.contains), withHandle, survivors.filter(cancelled.contains))
  }

  /// Returns whether the program cancelled a task that waits for a continuation, and the task has no handler that could
  /// resume it. So the task goes on waiting, although the program wanted it to end.
  private func isCancelledInVain(_ task: NodeID) -> Bool {
    !graph.cancellableTasks.contains(task) && graph.taskStatus(at: block(task).address)?.isCancelled ?? false
  }

  /// Returns the tasks that alone keep their survivor, besides stale words on stacks. A thread that has just left a
  /// function may still have the function's words on its stack. The reference counts show that such a word is no
  /// reference (`SurplusWords`). `tasks`: the tasks, each with its survivor. Linear in the graph.
  private func besideStaleWords(
    _ tasks: [NodeID: NodeID], _ members: Set<NodeID>, _ counts: PathCounts, _ paths: RetainPaths,
    _ registration: RegistrationSearch
  ) -> [NodeID: NodeID] {
    /// The nodes on the way from each task to its survivor, with the task.
    var taskOfNode: [NodeID: NodeID] = [:]
    var found = tasks
    for (task, node) in tasks {
      guard let holding = holding(node, members, counts, paths, registration) else {
        found[task] = nil
        continue
      }
      for step in holding.steps[(holding.suspect + 1)...] {
        // Another task keeps the same closure or object.
        if let other = taskOfNode.updateValue(task, forKey: step.node) { (found[other], found[task]) = (nil, nil) }
      }
    }
    for node in 0..<NodeID(graph.graph.nodeCount) {
      let owner = graph.isRoot(node) ? node : graph.taskOfSlab[node] ?? node
      for edge in graph.graph.edges(from: node)
      where ObjectGraph.owning.contains(EdgeKinds(kind: graph.graph.kind(of: edge))) {
        guard let task = taskOfNode[graph.graph.target(of: edge)], owner != task, taskOfNode[node] != task else {
          continue
        }
        if !isOfStack(node) || graph.graph.kind(of: edge) != EdgeStrength.surplus.rawValue { found[task] = nil }
      }
    }
    return found
  }

  private func isOfStack(_ node: NodeID) -> Bool {
    guard graph.isRoot(node) else { return false }
    switch graph.root(node).kind {
    case .stack, .registers: return true
    default: return false
    }
  }

  /// Returns whether other code can cancel a task by the task's handle, or by the handle of a task above it. The runtime
  /// cancels the children of a task, in groups and by `async let`, with the task.
  private func canBeCancelled(_ task: NodeID) -> Bool {
    graph.taskRelations.withParents(of: block(task).address).contains { address in
      // A task among the frames of its parent has no handle.
      guard let block = graph.heap.block(containing: address), graph.heap[block].address == address else {
        return false
      }
      return isHandleElsewhere(of: block.rawValue)
    }
  }

  /// Returns whether code other than the task's own can reach the task's handle. An object that only the task keeps
  /// cannot give the handle away.
  private func isHandleElsewhere(of task: NodeID) -> Bool {
    waiting.handleOwners(of: task).contains { owner in
      !TaskHandles.isContinuation(from: owner, to: task, in: graph)
        && (graph.isRoot(owner) || !ownership.isOnlyHeld(owner, through: task))
    }
  }

  /// Returns whether at least as many sleeps have ended as there are tasks.
  private func haveSlept(_ tasks: some Collection<NodeID>) -> Bool {
    let places = Set(tasks.compactMap { waiting.sleep(of: $0) }.map { block($0).site.rawValue })
    return places.reduce(UInt64(0)) { $0 &+ sites[Int($1)].lifetime.deaths } >= UInt64(tasks.count)
  }

  /// Returns the survivors that only a timer or an observer of their own keeps. Other code must not be able to reach
  /// the timer or observer, except by the survivor. `others`: nodes that have registrations, but give them to no code.
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
    // Several registrations hardly have a variable each, so only blocks are searched.
    for node in 0..<NodeID(graph.blockCount) {
      let type = graph.type(of: node)
      // A library's own object does not give its references to the program.
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

  /// Returns the registrations in memory of C code, by the library object that represents each. For example, an object
  /// leads to a source, and the source leads to its timer.
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

  /// Returns the survivors that only a shared centre keeps, if other code can remove less than half of their observers.
  /// Each token lets code remove one observer. Tokens that the survivors themselves keep do not count.
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
    // An object that is itself an observer has its own tokens.
    let observers = observers()
    let spare = tokens.reduce(0) { sum, entry in
      sum + max(0, entry.value - (entry.key.flatMap { observers[$0] } ?? 0))
    }
    return spare * 2 <= kept.count ? kept : []
  }

  /// Returns the number of closures in centres that call an object of the program, by object. A weak capture counts.
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

  /// Maximum number of closures, boxes and objects that are searched for one observer.
  private static let closureLimit = 16

  private static let tokens = RuleBook.shipped.table(.token, by: .type)
}
