// Judges families by their growth. Some only grow, some stop ending, and some are queues.

import HeapAnalysis
import TraceReading

extension SurvivorFinder {
  /// Returns a suspicion of a family that only grows, or whose objects may be registered.
  func collected(_ family: Family, _ lifetimes: TypeLifetimes) -> Suspicion? {
    guard let first = family.survivors.first,
      holds(
        .number, family.survivors.count >= rules.minRegistered,
        "\(family.survivors.count) of \(rules.minRegistered)")
    else { return nil }
    let growth = growth(family, first)
    if let growth, growth.evidence.isStrong { return growth }
    // The objects may be registered, whatever the growth.
    let registered = registered(family, lifetimes)
    guard var suspicion = growth else { return registered }
    suspicion.needsHolder = true
    suspicion.others = registered.map { [$0] } ?? []
    return suspicion
  }

  /// Returns a suspicion of a family that only grows; nil if too much speaks against it.
  private func growth(_ family: Family, _ first: NodeID) -> Suspicion? {
    let count = family.survivors.count
    let calledBack = isCalledBack(family, first)
    let least = calledBack ? rules.minCalledBack : rules.minLooped
    let strong = calledBack ? rules.strongCalledBack : rules.strongLooped
    var suspicion = Suspicion(verdict: .accumulating, family: family, least: least, evidence: Evidence(rules))
    weigh(
      .number, count >= least, "\(count) of \(least)\(calledBack ? ", by callbacks" : "")", in: &suspicion.evidence)
    weigh(.madeBeforeTheEnd, !isOfTheEnd(family), in: &suspicion.evidence)
    weighGrowth(of: family, isCalledBack: calledBack, in: &suspicion.evidence)
    weighUseInTheEnd(of: family, in: &suspicion.evidence)
    if isChain(family) {
      let isOfWork = calledBack || origin(block(first).site).hasUnit
      return holds(.chain, isOfWork && suspicion.evidence.isStrong, else: .weakens) ? chain(family) : nil
    }
    weigh(.many, count >= strong, "\(count) of \(strong)", in: &suspicion.evidence)
    weighSingleUses(of: family, in: &suspicion.evidence)
    // Objects that the main function collects are the program's purpose, unless they are subscribers.
    suspicion.needsCallback = !calledBack && !origin(block(first).site).hasUnit
    return suspicion.evidence.sum >= rules.minPoints ? suspicion : nil
  }

  /// Weakens a suspicion if the program worked on the objects once all had been made, and notes this work. Calls of the
  /// objects are no such work.
  private func weighUseInTheEnd(of family: Family, in evidence: inout Evidence) {
    guard !areCalled(family, family.survivors[0]) else { return }
    evidence.isUsedInTheEnd = !weigh(.unusedAtTheEnd, lateUse(of: family) != .long, in: &evidence)
  }

  /// Returns whether a program calls the objects of a family rather than reads them. It sends to each stream, and locks
  /// each lock. An object with a closure or a stream of its own is called by the code that registered it.
  func areCalled(_ family: Family, _ first: NodeID) -> Bool {
    if isResource(first) { return true }
    return origin(block(first).site).hasUnit && (isCallback(first) || haveOwnResources(family))
  }

  /// Returns whether each of several survivors has a resource of its own.
  private func haveOwnResources(_ family: Family) -> Bool {
    let sample = family.survivors.prefix(rules.severalSurvivors)
    let resources = sample.compactMap { node in
      graph.graph.edges(from: node).lazy.map(graph.graph.target(of:)).first { !graph.isRoot($0) && isResource($0) }
    }
    return Set(resources).count == sample.count
  }

  /// Returns whether a node is a closure, or an object with a closure of its own.
  private func isCallback(_ node: NodeID) -> Bool {
    if graph.type(of: node).kind == .closure { return true }
    return graph.graph.edges(from: node).contains(where: isClosure)
  }

  /// Returns a suspicion of the survivors that may be registered. They are older than any object of the type became
  /// before its end, wherever the object was made. Younger survivors may be about to end as well.
  private func registered(_ family: Family, _ lifetimes: TypeLifetimes) -> Suspicion? {
    // Objects from the start are meant to stay, except many objects that each have a task which no code can cancel.
    let isEarly = isOfTheStart(family)
    guard !isEarly || family.survivors.count >= rules.minLooped, !isOfTheEnd(family) else {
      note(
        .madeThroughout, .excludes,
        "\(percent(spread(of: family))) of the work, of \(percent(rules.minRegisteredSpread))")
      return nil
    }
    var family = family
    if let longest = lifetimes.longestWork(of: site(of: family.survivors[0])) {
      family.survivors.removeAll { activations.ordinal - min(activations.ordinal, ordinal($0)) <= longest }
    }
    let settled = family.survivors.count(where: { !isOfTheEnd(ordinal($0), at: block($0).birthTime) })
    guard
      holds(.olderThanAnyEnded, settled >= rules.minRegistered, "\(settled) of \(rules.minRegistered)")
    else { return nil }
    return Suspicion(
      verdict: .outlived, family: family, needsRegistration: true, ownKinds: isEarly ? [.task] : [],
      least: rules.minRegistered, evidence: Evidence(rules))
  }

  /// Returns whether all survivors of a family were made together, with most of the work still to come. Programs set up
  /// their permanent registrations in this way.
  func isOfTheStart(_ family: Family) -> Bool { spread(of: family) < rules.minRegisteredSpread }

  /// Returns whether all objects of a family were made when little work was left. Some work is under way when a program
  /// ends.
  private func isOfTheEnd(_ family: Family) -> Bool {
    isOfTheEnd(family.lifetime.firstOrdinal, at: family.lifetime.firstBirth)
  }

  /// Returns whether an object was made when little work and little time was left.
  private func isOfTheEnd(_ ordinal: UInt64, at birth: UInt64) -> Bool {
    let end = graph.snapshot.time
    let hasLittleWork =
      Double(activations.ordinal - min(ordinal, activations.ordinal)) < rules.minRemainingWork
      * Double(activations.ordinal)
    let hasLittleTime =
      Double(end - min(end, birth)) < rules.minRemainingWork * Double(end - min(end, startTime))
    return hasLittleWork && hasLittleTime
  }

  /// Weighs whether births go on for much of the work since the first birth, and whether each quarter adds its share.
  private func weighGrowth(of family: Family, isCalledBack: Bool, in evidence: inout Evidence) {
    let minSpread = isCalledBack ? rules.minCalledBackSpread : rules.minLoopedSpread
    weigh(
      .madeThroughout, spread(of: family) >= minSpread,
      "\(percent(spread(of: family))) of the work, of \(percent(minSpread))", in: &evidence)
    let population = population(family, until: family.lifetime.lastOrdinal)
    guard family.survivors.count >= rules.minForQuarters else {
      weigh(
        .growsSteadily, population.growsInEachQuarter(least: 0), "after each quarter \(population.quarters)",
        in: &evidence)
      return
    }
    let (lead, lag) = deviation(of: family.survivors, from: family.lifetime.firstOrdinal)
    weigh(
      .growsSteadily, isEven((lead, lag)) || population.growsInEachQuarter(least: rules.minQuarter),
      "after each quarter \(population.quarters), \(percent(lead)) above and \(percent(lag)) below even growth",
      in: &evidence)
  }

  func isEven(_ deviation: (lead: Double, lag: Double)?) -> Bool {
    guard let deviation else { return false }
    return deviation.lead <= rules.maxLead && deviation.lag <= rules.maxLag
  }

  /// Returns the distance of survivors' births from even growth, between a moment and the last birth.
  func deviation(of survivors: [NodeID], from start: UInt64) -> (lead: Double, lag: Double) {
    guard let last = survivors.last.map(ordinal), last > start else { return (1, 1) }
    return Population.deviation(
      of: survivors.map { Double(ordinal($0) - min(ordinal($0), start)) / Double(last - start) })
  }

  /// Returns a suspicion of a family whose siblings ended for a while, and then no longer: a cache whose entries
  /// stopped expiring. The objects made since then are older than any that ended, and their number grows.
  func unending(_ family: Family) -> Suspicion? {
    let lifetime = family.lifetime
    let later = family.survivors.filter { ordinal($0) > lifetime.lastDeathOrdinal }
    guard let turn = later.first.map(ordinal), lifetime.deaths > 0 else {
      return nil
    }
    let since = Double(activations.ordinal - min(activations.ordinal, turn))
    let whole = Double(activations.ordinal - min(activations.ordinal, lifetime.firstOrdinal))
    let old = later.count {
      Double(activations.ordinal - min(activations.ordinal, ordinal($0))) > rules.ageFactor
        * Double(lifetime.longestWork)
    }
    let (lead, lag) = deviation(of: later, from: turn)
    let span = later.last.map { Double(ordinal($0) - turn) } ?? 0
    var evidence = Evidence(rules)
    guard
      holds(
        .unending, since >= rules.minUnendingSpan * whole,
        "none ended in the last \(percent(since / max(1, whole))) of the work, of \(percent(rules.minUnendingSpan))",
        else: .weakens),
      holds(
        .unending, old >= rules.minLooped, "\(old) of \(rules.minLooped) are older than any that ended",
        else: .weakens),
      holds(
        .madeThroughout, span >= rules.minLoopedSpread * since,
        "\(percent(span / max(1, since))) of that work, of \(percent(rules.minLoopedSpread))", else: .weakens)
    else { return nil }
    weigh(
      .growsSteadily, isEven((lead, lag)),
      "since then \(percent(lead)) above and \(percent(lag)) below even growth", in: &evidence)
    weighUseInTheEnd(of: family, in: &evidence)
    weigh(.many, later.count >= rules.strongLooped, "\(later.count) of \(rules.strongLooped)", in: &evidence)
    guard evidence.sum >= rules.minPoints else { return nil }
    var family = family
    family.survivors = later
    return Suspicion(
      verdict: .accumulating, family: family, chaining: chaining(of: family), least: rules.minLooped,
      evidence: evidence)
  }

  /// Returns a suspicion of a queue whose consumer is too slow: its members end, one after the other, but their number
  /// grows.
  func backlog(_ family: Family) -> Suspicion? {
    let count = family.survivors.count
    guard let first = family.survivors.first,
      holds(.queue, count >= rules.minLooped, "\(count) of \(rules.minLooped)", else: .weakens),
      holds(.concurrent, isConcurrent || isCalledBack(family, first) || isQueue(family), else: .weakens)
    else { return nil }
    let lifetime = family.lifetime
    let work = activations.ordinal - min(activations.ordinal, lifetime.firstOrdinal)
    let span = Double(lifetime.lastOrdinal - min(lifetime.lastOrdinal, lifetime.firstOrdinal))
    // Judge the growth up to the last birth. Once the producer stops, the queue may be drained.
    let population = population(family, until: lifetime.lastOrdinal)
    var evidence = Evidence(rules)
    weigh(
      .madeThroughout, span >= rules.minLoopedSpread * Double(work),
      "\(percent(span / Double(max(1, work)))) of the work, of \(percent(rules.minLoopedSpread))", in: &evidence)
    // The members that come and go hide the even growth of the members that are left behind.
    let isLeftBehind =
      isEven(deviation(of: family.survivors, from: lifetime.firstOrdinal))
      && population.growsInEachQuarter(least: rules.minQuarter)
    let isSteady =
      population.growsInEachQuarter(least: rules.minQuarterOfQueue) || isEven(population.deviation) || isLeftBehind
    weigh(.growsSteadily, isSteady, "after each quarter \(population.quarters)", in: &evidence)
    weigh(.madeBeforeTheEnd, !isOfTheEnd(family), in: &evidence)
    weighUseInTheEnd(of: family, in: &evidence)
    weigh(.many, count >= rules.strongLooped, "\(count) of \(rules.strongLooped)", in: &evidence)
    guard evidence.sum >= rules.minPoints else { return nil }
    return Suspicion(
      verdict: .accumulating, family: family, chaining: chaining(of: family), least: rules.minLooped,
      evidence: evidence)
  }

  /// Returns whether a family of one thread is a queue: siblings ended in the order of their births, and the number
  /// grew evenly. In a search, the objects end in another order. If objects multiply, their number grows late. Nothing
  /// uses the members of a queue until they leave it, but a world works with its animals in each step.
  private func isQueue(_ family: Family) -> Bool {
    let lifetime = family.lifetime
    guard let first = family.survivors.first.map(ordinal), lifetime.lastOrdinal > lifetime.firstOrdinal,
      first > lifetime.firstOrdinal
    else { return false }
    let part = Double(lifetime.lastOrdinal - first) / Double(lifetime.lastOrdinal - lifetime.firstOrdinal)
    let population = population(family, until: lifetime.lastOrdinal)
    let inUse = family.survivors.count { isInUse($0, beyond: 0, in: family) }
    return Double(inUse) <= rules.maxUsedInQueue * Double(family.survivors.count)
      && Double(family.survivors.count) >= rules.minInOrder * part * Double(lifetime.births)
      && (population.growsInEachQuarter(least: rules.minQuarterOfQueue)
        || population.deviation.map { isEven($0) && $0.lag <= rules.maxLagOfQueue } ?? false)
  }

  /// Returns whether the objects were made in many tasks or threads, or by callbacks of a run loop or a queue.
  func isCalledBack(_ family: Family, _ first: NodeID) -> Bool {
    var executions: Set<ExecutionID> = []
    for node in family.survivors {
      executions.insert(block(node).execution)
      if executions.count >= rules.minMakers { return true }
    }
    return origin(block(first).site).isCalledBack
  }

  /// Returns the time between the first and the last birth, as a share of the program's work since the first birth.
  func spread(of family: Family) -> Double {
    guard let first = family.survivors.first.map(ordinal), let last = family.survivors.last.map(ordinal),
      activations.ordinal > first
    else { return 0 }
    return Double(last - first) / Double(activations.ordinal - first)
  }
}
