// Judges which families have survivors that should be gone, by the ends of their siblings.

import HeapAnalysis
import TraceReading

extension SurvivorFinder {
  /// The evidence for a suspicion.
  struct Evidence {
    /// Probability that so many siblings live so long by chance; nil if no siblings ended.
    var odds: SurvivalOdds?
    /// The number of live objects of the family after each quarter of the work since its first object.
    var live: [UInt64] = []
    /// The points of all rules except two: the odds, and the growth of the population.
    var points = 0
    /// The points for the lives of siblings. A part of the survivors has its own odds.
    private(set) var pointsOfLives = (odds: 0, growth: 0)
    /// The sum of the points of all rules.
    var sum: Int { points + pointsOfLives.odds + pointsOfLives.growth }
    /// Whether the suspicion is strong enough to be listed.
    var isStrong: Bool { sum >= 0 }
    /// Whether the program worked on the objects once all had been made.
    var isUsedInTheEnd = false
    /// By survivor that is older than siblings get: the structure that it is a part of, or the survivor itself. Empty
    /// if siblings do not end.
    var proven: [NodeID: NodeID] = [:]
    fileprivate var limit: Limit
    /// Minimum number of old survivors for a subgroup to be reported separately.
    private let minOutlived: Int
    private let rulePoints: RulePoints
    /// The longest ordinary life, in events of the process; 0 if siblings do not end.
    var longestWork: UInt64 { limit.work }

    /// The limit of ordinary lives.
    fileprivate struct Limit {
      var beyond: UInt64 = 0
      var ratio = 1.0
      var work: UInt64 = 0
      var strongOdds: Double
      /// See `SurvivorRules.maxAgeRatio`.
      var maxRatio: Double

      init(_ rules: SurvivorRules) { (strongOdds, maxRatio) = (rules.strongOdds, rules.maxAgeRatio) }
    }

    init(_ rules: SurvivorRules) {
      (limit, minOutlived, rulePoints) = (Limit(rules), rules.minOutlived, rules.points)
    }

    /// The evidence for survivors that an owner let go. `ratio`: how many times longer they live on than siblings do.
    init(_ rules: SurvivorRules, leftBehind: [NodeID], ratio: Double) {
      self.init(rules)
      limit.ratio = ratio
      proven = Dictionary(leftBehind.map { ($0, $0) }, uniquingKeysWith: { first, _ in first })
      weighOdds(leftBehind.count)
    }

    /// Returns the evidence for some survivors that are held in one way; nil if too few of them are old. The others may
    /// be in use just now.
    func of(_ survivors: [NodeID], least: Int) -> Evidence? {
      if proven.isEmpty { return self }
      let own = survivors.compactMap { proven[$0] }
      guard own.count >= min(least, minOutlived) else { return nil }
      var evidence = self
      // Parts of one structure live on together, so they count once.
      evidence.weighOdds(Set(own).count)
      return evidence
    }

    /// The evidence for survivors that something has registered. Only the lives of siblings count.
    var ofRegistrations: Evidence {
      var evidence = self
      evidence.points = 0
      return evidence
    }

    /// Returns the same evidence, with the strength of another one.
    func ofStrength(of other: Evidence) -> Evidence {
      var evidence = self
      (evidence.points, evidence.pointsOfLives) = (other.points, other.pointsOfLives)
      return evidence
    }

    /// Joins the evidence of two families with one cause. The better evidence counts for both.
    mutating func join(_ other: Evidence) {
      odds = [odds, other.odds].compactMap { $0 }.min()
      if other.sum > sum { (points, pointsOfLives) = (other.points, other.pointsOfLives) }
      proven.merge(other.proven) { first, _ in first }
    }

    fileprivate mutating func weighOdds(_ survivors: Int) {
      let odds = SurvivalOdds(
        survivors: survivors, beyond: limit.beyond, ratio: limit.ratio, maxRatio: limit.maxRatio)
      self.odds = odds
      let points = rulePoints[.odds]
      pointsOfLives.odds = odds.chance <= limit.strongOdds ? points.supports : points.weakens
    }

    /// Notes that the survivors did not make the population grow.
    fileprivate mutating func noteNoGrowth() { pointsOfLives.growth = rulePoints[.populationGrew].weakens }
  }

  /// Whether a suspicion holds for objects that a sibling holds, as in a list.
  enum Chaining {
    /// Trees and lists consist of such objects on purpose.
    case never
    case always
    /// The suspicion holds if the objects are a chain. Some siblings ended, so the program removes elements. A queue is
    /// often a list.
    case perhaps
  }

  struct Suspicion {
    var verdict: Verdict
    var family: Family
    var homeDistance: UInt32?
    /// True if the suspicion holds only for objects that something has registered, each by itself.
    var needsRegistration = false
    /// The kinds of registrations that the objects need, each object its own, beyond the reach of other code. Empty if
    /// they need none.
    var ownKinds: Set<Finding.Registration> = []
    /// True if the suspicion holds only for objects that the program released.
    var needsLettingGo = false
    /// True if the suspicion holds because an owner let go of the objects, while another one keeps them.
    var isLeftBehind = false
    /// True if the suspicion holds only for objects that nothing has registered.
    var needsHolder = false
    /// True if the suspicion holds only for objects that a stored closure captured.
    var needsCallback = false
    /// True if the suspicion holds only for objects that the program did not use in the end, while it used others of
    /// the family.
    var needsUnused = false
    /// True if the suspicion holds only for objects that an object of the program has, rather than a variable of its
    /// main function.
    var needsService = false
    /// Whether the suspicion holds for objects that a sibling holds.
    var chaining = Chaining.never
    /// True if the program stated that the objects should be gone. Then any holder is reported.
    var isStated = false
    /// Minimum number of survivors that must be held in the same way.
    var least: Int
    /// All other objects of the type, wherever they were made. Those that the same collection holds belong to the
    /// suspicion.
    var kin: Family?
    /// Other suspicions about the same family. They count if this one turns out weak, or if no holder of the objects
    /// fits it.
    var others: [Suspicion] = []
    /// The number of its candidate in the log.
    var candidate: Int?
    var evidence: Evidence
  }

  func suspicion(_ family: Family, _ lifetimes: TypeLifetimes) -> Suspicion? {
    let lifetime = family.lifetime
    guard lifetime.births > 1, !family.survivors.isEmpty else { return nil }
    log?.begin(family)
    var suspicion: Suspicion?
    if lifetime.deaths >= rules.minEnded,
      Double(lifetime.deaths) >= rules.minEndedShare * Double(lifetime.births)
    {
      note(.siblingsEnd, .supports, "\(lifetime.deaths) of \(lifetime.births) ended")
      let family = withSingleUses(family)
      // A family that grows like a queue is a queue, even if its oldest members are older than any that ended.
      let shapes = isExceptional(family) ? [outlived, backlog] : [backlog, outlived]
      suspicion = first(of: shapes + [unending], family)
      let left = suspicion?.evidence.isStrong ?? false ? nil : leftBehind(family)
      if var own = keptByOwn(family) {
        if suspicion == nil {
          suspicion = own
        } else {
          // The objects' lives say too little for more than a weak suspicion. Unless many objects are older than any
          // sibling that ended, they may end by themselves.
          if !areManyOlderThanSiblings(family) { own.needsLettingGo = true }
          suspicion?.others.append(own)
        }
      }
      if let left {
        if suspicion == nil { suspicion = left } else { suspicion?.others.append(left) }
      }
    } else {
      note(.siblingsEnd, .weakens, "\(lifetime.deaths) of \(lifetime.births) ended")
      suspicion = collected(family, lifetimes)
      if !(suspicion?.evidence.isStrong ?? false) || suspicion?.needsRegistration ?? false,
        var unending = unending(family)
      {
        unending.others = suspicion.map { [$0] + $0.others } ?? []
        suspicion = unending
      }
    }
    if suspicion == nil { log?.end(isSuspected: false) }
    suspicion?.evidence.live = population(family, until: activations.ordinal).quarters
    return suspicion
  }

  /// Returns the first suspicion of several shapes. Its `others` are the suspicions of later shapes, up to the first
  /// strong one.
  private func first(of shapes: [(Family) -> Suspicion?], _ family: Family) -> Suspicion? {
    var all: [Suspicion] = []
    for shape in shapes where !(all.last?.evidence.isStrong ?? false) {
      if let found = shape(family) { all.append(found) }
    }
    guard var first = all.first else { return nil }
    first.others += all.dropFirst().flatMap { [$0] + $0.others }
    return first
  }

  /// Returns the live objects of a family from its first birth to a later moment. Linear in its sites.
  func population(_ family: Family, until end: UInt64) -> Population {
    Population(
      family.sites.map { sites[Int($0)].liveCurve }, from: family.lifetime.firstOrdinal,
      to: max(end, family.lifetime.firstOrdinal))
  }

  /// Returns a suspicion of objects that timers or tasks of their own may keep, although siblings end. No code can stop
  /// such a timer or cancel such a task, so the age of the objects does not matter.
  private func keptByOwn(_ family: Family) -> Suspicion? {
    guard let first = family.survivors.first, isProgramObject(first), family.survivors.count >= rules.minRegistered,
      family.lifetime.lastOrdinal > family.lifetime.firstOrdinal
    else { return nil }
    var suspicion = Suspicion(
      verdict: .outlived, family: family, needsRegistration: true, ownKinds: [.timer, .dispatchSource, .task],
      least: rules.minRegistered, evidence: Evidence(rules))
    // A few timers from the start are meant to stay.
    if family.survivors.count < rules.minLooped, isOfTheStart(family) { suspicion.ownKinds = [.task] }
    // The last object may be new.
    let older = family.survivors.indices.count { youngerEnded(than: $0, of: family) >= rules.minYoungerEnded }
    suspicion.needsLettingGo = older < rules.minRegistered - 1
    return suspicion
  }

  /// Returns whether many survivors are older in time than any sibling that ended. Timers and sleeping tasks go on with time, not
  /// with the program's work. A few of them may still be at work.
  private func areManyOlderThanSiblings(_ family: Family) -> Bool {
    let lifetime = family.lifetime
    let limit = rules.ageFactor * Double(lifetime.longestDuration)
    let old = family.survivors.count { node in
      Double(lifetime.lastTime - min(lifetime.lastTime, block(node).birthTime)) > limit
    }
    return old >= rules.minPendingTasks
  }

  /// Returns a suspicion of objects that tasks of their own may keep after the program released the objects.
  func letGo(_ family: Family) -> Suspicion? {
    guard lettingGo != nil, var suspicion = keptByOwn(family) else { return nil }
    log?.begin(family)
    suspicion.needsLettingGo = true
    return suspicion
  }

  /// Returns whether survivors are an exception: most siblings end.
  private func isExceptional(_ family: Family) -> Bool {
    Double(family.survivors.count) <= rules.maxShare * Double(family.lifetime.births)
  }

  // MARK: Where siblings end

  /// A survivor, with the facts that decide whether it is old.
  private struct Candidate {
    var node: NodeID
    /// Its age at its family's last event, in the process's events and in ticks. Later time does not count: if no more
    /// siblings are made, nothing can replace the last one.
    var work: UInt64
    var time: UInt64
    /// Whether control has left the scope that siblings end in.
    var hasLeft: Bool
  }

  /// Returns a suspicion of survivors that are older than siblings get, or that were left behind in the scope where
  /// siblings end. Survivors that replaced others do not count.
  ///
  /// Asks in this order: Which survivors may be old (`candidates`)? Is their number, at that age, too large for chance
  /// (`unlikely`)? Did they make the population grow (`growth`)? Does the program still use them (`weighUse`)? Linear
  /// in the family's survivors, and for `unlikely` in the classes of its siblings' lifetimes.
  ///
  /// The judgement is wrong about long-lived objects if all of these hold. The objects are meant to live long, are made
  /// over and over, never end while the program runs, and are not used in that time. Objects that end soon have the
  /// same class and allocation site.
  private func outlived(_ family: Family) -> Suspicion? {
    let lifetime = family.lifetime
    guard lifetime.lastOrdinal > lifetime.firstOrdinal, let first = family.survivors.first else { return nil }
    let home = lifetime.departures.distance(of: rules.scopedShare)
    let distance = home ?? 0
    guard let (old, limit) = unlikely(candidates(family, distance: distance), family) else {
      note(.olderThanSiblings, .weakens, "fewer than \(rules.minOutlived)")
      return leftInScope(family)
    }
    note(.olderThanSiblings, .supports, "\(old.count) of \(family.survivors.count)")
    let structures = Structures(of: family, within: limit.work, self)
    let proven = old.filter { !structures.isPartOfItsKind($0.node) }
    guard
      holds(.independent, proven.count >= rules.minOutlived, "\(proven.count) of \(old.count) are none")
    else { return nil }
    let growth = growth(of: family, by: proven.map(\.node))
    var suspicion = Suspicion(
      verdict: .outlived, family: family, homeDistance: home, least: rules.minOutlived,
      evidence: Evidence(rules))
    suspicion.chaining = chaining(of: family)
    suspicion.evidence.proven = Dictionary(
      proven.map { ($0.node, structures.whole(of: $0.node)) }, uniquingKeysWith: { first, _ in first })
    suspicion.evidence.limit = limit
    if growth != .added { suspicion.evidence.limit.strongOdds = rules.strongOddsByAgeAlone }
    suspicion.evidence.weighOdds(Set(suspicion.evidence.proven.values).count)
    // The number of objects in a full cache goes up and down as well. So hidden growth counts only if ages are strong
    // evidence.
    let isUnlikely = suspicion.evidence.isStrong
    note(.odds, isUnlikely ? .supports : .weakens, points: suspicion.evidence.pointsOfLives.odds)
    if !(growth.map { $0 != .hidden || isUnlikely } ?? false) { suspicion.evidence.noteNoGrowth() }
    note(
      .populationGrew, suspicion.evidence.pointsOfLives.growth == 0 ? .supports : .weakens,
      growth.map { "\($0)" } ?? "", points: suspicion.evidence.pointsOfLives.growth)
    let share = "\(family.survivors.count) of \(lifetime.births) live"
    weigh(.minority, isExceptional(family), share, in: &suspicion.evidence)
    if growth == .added { weighGrowth(of: family, old: old.count, in: &suspicion.evidence) }
    if isProgramObject(first) { weighUse(of: family, first, in: &suspicion) }
    return suspicion.evidence.ofRegistrations.sum >= rules.minPoints ? suspicion : nil
  }

  /// Returns how the survivors that are older than siblings get made the population grow. Nil if the growth is bounded,
  /// or if too few of them were made while the population could grow.
  func growth(of family: Family, by proven: [NodeID]) -> Population.Growth? {
    let lifetime = family.lifetime
    let span = Double(lifetime.lastEventOrdinal - lifetime.firstOrdinal)
    let positions = proven.map { Double(ordinal($0) - min(ordinal($0), lifetime.firstOrdinal)) / span }
    let growth = population(family, until: lifetime.lastEventOrdinal).growth(by: positions, rules)
    guard growth.made > 0, Double(growth.made) >= rules.minMadeLater * Double(proven.count),
      growth.kind != .bounded
    else { return nil }
    return growth.kind
  }

  /// Weighs whether the survivors were made from the first birth to the last, as many in each part of the work. Then
  /// the code that ends their siblings misses some of them, again and again. If many survivors are no older than
  /// siblings get, they may still end.
  private func weighGrowth(of family: Family, old: Int, in evidence: inout Evidence) {
    func isSpread(_ family: Family) -> Bool {
      isEven(evenness(of: family)) && wholeSpread(of: family) >= rules.minLoopedSpread
    }
    let mayBeSteady =
      family.survivors.count >= rules.minCalledBack
      && Double(old) >= rules.minOldShare * Double(family.survivors.count)
      && (intervalsLived(family.lifetime) >= rules.minIntervalsLived || isInTable(family.survivors[0]))
    var family = family
    // Work may be uneven although the code that removes entries of a table misses a constant part of them.
    if mayBeSteady, !isSpread(family), family.uses == nil, isInTable(family.survivors[0]) {
      family.uses = objectUses?.uses(of: family.survivors)
    }
    let isSteady = mayBeSteady && isSpread(family)
    let (lead, lag) = evenness(of: family)
    weigh(
      .evenGrowth, isSteady,
      "\(percent(lead)) above and \(percent(lag)) below even growth, \(old) are older than siblings get", in: &evidence)
  }

  private func candidates(_ family: Family, distance: UInt32) -> [Candidate] {
    let lifetime = family.lifetime
    let typical = lifetime.durations.bound(of: rules.typicalShare) ?? .max
    let lastMoment = lifetime.lastTime
    // Control must leave and enter the scope between one sibling and the next. A loop that makes all of them is no such
    // scope.
    let isScope =
      lifetime.gaps.share(within: distance) <= rules.minScopeChanges
      && lifetime.departures.share(within: distance) >= rules.scopedShare
    var homes: [Home: Bool] = [:]
    var candidates: [Candidate] = []
    for (index, node) in family.survivors.enumerated() {
      let block = block(node)
      if isInFlight(block, distance: distance, typical: typical, family, &homes) { continue }
      // Younger siblings have ended, so this survivor neither waits in a queue nor replaces the last one.
      guard youngerEnded(than: index, of: family) >= rules.minYoungerEnded else { continue }
      candidates.append(
        Candidate(
          node: node, work: lifetime.lastEventOrdinal - min(lifetime.lastEventOrdinal, block.ordinal),
          time: lastMoment - min(lastMoment, block.birthTime),
          hasLeft: isScope && departure(of: block) > distance))
    }
    return candidates
  }

  /// Returns the number of ended siblings that were made after a survivor, as if births were even over the work.
  private func youngerEnded(than index: Int, of family: Family) -> Double {
    let lifetime = family.lifetime
    let range = Double(lifetime.lastOrdinal - lifetime.firstOrdinal)
    let left = Double(lifetime.lastOrdinal - min(lifetime.lastOrdinal, ordinal(family.survivors[index])))
    return Double(lifetime.births) * left / range - Double(family.survivors.count - index - 1)
  }

  /// Returns the survivors that chance explains least, by any limit that the lives of siblings suggest; nil if there
  /// are too few. Such a limit separates two sorts of siblings: most are short-lived, and some are not.
  private func unlikely(_ candidates: [Candidate], _ family: Family) -> ([Candidate], Evidence.Limit)? {
    guard candidates.count >= rules.minOutlived else { return nil }
    let lifetime = family.lifetime
    let durations = lifetime.durations.tails(of: lifetime.deaths)
    var best: (old: [Candidate], limit: Evidence.Limit, odds: SurvivalOdds)?
    for (bound, beyond) in lifetime.work.tails(of: lifetime.deaths) {
      guard beyond < UInt64(candidates.count) else { break }
      guard Double(beyond) <= rules.maxUnusualShare * Double(lifetime.deaths) else { break }
      let limit = beyond == 0 ? min(bound / 64, lifetime.longestWork + 1) : bound / 64
      let paused = max(
        beyond, lifetime.deaths >= rules.minEndedForPause ? 1 : 0,
        UInt64(Double(lifetime.deaths) * rules.pausedShare))
      guard let slow = durations.last(where: { $0.beyond <= paused }) else { continue }
      let longest = slow.beyond == 0 ? min(slow.bound, lifetime.longestDuration + 1) : slow.bound
      let old = candidates.filter { candidate in
        let isOld =
          Double(candidate.work) > rules.ageFactor * Double(limit)
          && (Double(candidate.time) > rules.ageFactor * Double(longest)
            || Double(candidate.work) > rules.workAloneFactor * Double(limit))
        return (isOld || candidate.hasLeft && beyond == 0 && candidate.work > 0)
          && !isInUse(candidate.node, beyond: limit, in: family)
      }
      guard old.count >= rules.minOutlived else { continue }
      let ages = old.map(\.work).sorted()
      var found = Evidence.Limit(rules)
      (found.beyond, found.work) = (beyond, limit)
      found.ratio = Double(ages[ages.count / 2]) / Double(max(1, limit))
      let odds = SurvivalOdds(
        survivors: old.count, beyond: beyond, ratio: found.ratio, maxRatio: rules.maxAgeRatio)
      if best.map({ odds < $0.odds }) ?? true { best = (old, found, odds) }
    }
    return best.map { ($0.old, $0.limit) }
  }

  /// Returns the number of births of other siblings during a median life.
  func intervalsLived(_ lifetime: SiteLifetime) -> Double {
    guard let median = lifetime.work.bound(of: 0.5), median < .max, lifetime.births > 1 else { return 0 }
    let interval =
      Double(lifetime.lastOrdinal - min(lifetime.lastOrdinal, lifetime.firstOrdinal)) / Double(lifetime.births - 1)
    return Double(median / 64) / max(1, interval)
  }

  /// Returns whether a dictionary or a set has a survivor. Code removes their elements one by one. An array collects
  /// results.
  func isInTable(_ node: NodeID) -> Bool {
    var current = ownership.paths.parents[node]
    for _ in 0..<4 where current != HeapGraph.noNode && !graph.isRoot(current) {
      switch graph.type(of: current).kind {
      case .dictionary, .set: return true
      case .array: return false
      default: current = ownership.paths.parents[current]
      }
    }
    return false
  }

  /// Returns a suspicion of a few survivors, if nearly all siblings end in a scope. For example, the next screen may
  /// hold one screen.
  private func leftInScope(_ family: Family) -> Suspicion? {
    let lifetime = family.lifetime
    guard lifetime.deaths >= rules.minEndedInScope,
      let distance = lifetime.departures.distance(of: rules.typicalShare),
      lifetime.departures.share(within: distance) >= rules.minEndedInScopeShare
    else { return nil }
    let typical = lifetime.durations.bound(of: rules.typicalShare) ?? .max
    var homes: [Home: Bool] = [:]
    let left = family.survivors.filter { node in
      departure(of: block(node)) > distance
        && !isInFlight(block(node), distance: distance, typical: typical, family, &homes)
    }
    guard !left.isEmpty, left.count <= rules.minOutlived else { return nil }
    var family = family
    family.survivors = left
    return Suspicion(
      verdict: .outlived, family: family, homeDistance: distance, chaining: .always, least: 1, evidence: Evidence(rules)
    )
  }

  /// Returns the number of activations around the block's allocation that control has left since.
  func departure(of block: LiveBlock) -> UInt32 {
    let depth = Int(sites[Int(block.site.rawValue)].depth)
    return UInt32(max(0, depth - activations.sharedDepth(block.execution, since: block.ordinal)))
  }

  /// A running activation that survivors were made in.
  struct Home: Hashable {
    var execution: ExecutionID
    var began: UInt64
  }

  /// Returns whether the scope that a block's siblings end in is still running. It must be a scope of its own, and no
  /// loop around all of the siblings. `homes`: results by activation, so that each is computed once.
  func isInFlight(_ block: LiveBlock, distance: UInt32, typical: UInt64, _ family: Family, _ homes: inout [Home: Bool])
    -> Bool
  {
    let depth = Int(sites[Int(block.site.rawValue)].depth)
    let shared = activations.sharedDepth(block.execution, since: block.ordinal)
    guard depth - shared <= Int(distance), shared > 0 else { return false }
    guard let began = activations.beginning(of: block.execution, frame: depth - Int(distance) - 1) else { return false }
    let home = Home(execution: block.execution, began: began)
    if let known = homes[home] { return known }
    let births = family.survivors.lazy.map(self.block).filter { $0.execution == home.execution && $0.ordinal >= began }
      .map(
        \.birthTime)
    let isOwn = (births.max() ?? 0) - (births.min() ?? 0) <= typical
    homes[home] = isOwn
    return isOwn
  }
}
