// Which families have survivors that should be gone, by how their siblings ended and how their number grew.

extension OutlivingFinder {
  struct Suspicion {
    var verdict: Verdict
    var family: Family
    var homeDistance: UInt32?
    /// Whether it holds only for objects that something has registered each by itself.
    var needsRegistration = false
    /// Whether it holds only for objects that a sibling holds.
    var needsChain = false
    /// The program said so: whoever holds it is told.
    var isStated = false
    /// Survivors that it needs to be held in the same way.
    var least: Int
    /// All others of the type, wherever they were made: those that are held by the same collection belong to it.
    var kin: Family?
  }

  func suspicion(_ family: Family) -> Suspicion? {
    let lifetime = family.lifetime
    guard lifetime.births > 1, let first = family.survivors.first else { return nil }
    if lifetime.deaths >= Self.leastEnded, lifetime.deaths * 8 >= lifetime.births { return outlived(family) }
    let count = family.survivors.count
    guard count >= Self.leastRegistered, spread(of: family) >= 0.1 else { return nil }
    let registered = Suspicion(verdict: .outlived, family: family, needsRegistration: true, least: Self.leastRegistered)
    guard growsSteadily(family) else { return registered }
    if isCalledBack(family, first) {
      return count >= Self.leastCalledBack ? Suspicion(verdict: .accumulating, family: family, least: Self.leastCalledBack) : registered
    }
    guard count >= Self.leastLooped, spread(of: family) >= 0.7, isUnused(family), origin(block(first).site).hasUnit else { return registered }
    return Suspicion(verdict: .accumulating, family: family, least: Self.leastLooped)
  }

  /// Made in many tasks or threads, or by what a run loop or a queue calls.
  func isCalledBack(_ family: Family, _ first: NodeID) -> Bool {
    var strands: Set<StrandID> = []
    for node in family.survivors {
      strands.insert(block(node).strand)
      if strands.count >= 4 { return true }
    }
    return origin(block(first).site).isCalledBack
  }

  /// Where siblings end: whether enough survivors are proven to have outlived them, and they did not just come about at the start.
  func outlived(_ family: Family) -> Suspicion? {
    let lifetime = family.lifetime
    guard let typical = lifetime.durations.bound(of: 0.9), lifetime.lastOrdinal > lifetime.firstOrdinal, let first = family.survivors.first else { return nil }
    let distance = lifetime.departures.distance(of: 0.9) ?? 0
    let lastMoment = max(lifetime.lastBirth, lifetime.lastDeath)
    let work = lifetime.work.bound(of: 0.9).map { $0 == .max ? .max : $0 / 64 } ?? .max
    let lastOrdinal = max(lifetime.lastOrdinal, lifetime.lastDeathOrdinal)
    let range = Double(lifetime.lastOrdinal - lifetime.firstOrdinal)
    // A scope that is left and entered again between one sibling and the next: not a loop that makes them all.
    let isTight = lifetime.gaps.share(within: distance) <= 0.5
    var proven: [NodeID] = []
    var left: [NodeID] = []
    var homes: [Home: Bool] = [:]
    for (index, node) in family.survivors.enumerated() {
      let block = block(node)
      if isInFlight(block, distance: distance, typical: typical, family, &homes) { continue }
      let hasLeft = departure(of: block) > distance
      if hasLeft { left.append(node) }
      // Younger ones have ended: nobody waits in a queue, or stands in for the last.
      let younger = Double(lifetime.births) * Double(lifetime.lastOrdinal - min(lifetime.lastOrdinal, block.ordinal)) / range
      guard younger - Double(family.survivors.count - index - 1) >= 2 else { continue }
      // Age counts up to the last that happened to a sibling: when no more are made, nobody takes the place of the last one.
      // A pause of the whole program makes all that live older: as much work as siblings live for has to be done as well.
      let worked = lastOrdinal > block.ordinal ? lastOrdinal - block.ordinal : 0
      let isOld = typical < .max && lastMoment > block.birthTime && (lastMoment - block.birthTime) / 2 > typical && (work == .max || worked > work)
      // On a busy machine lifetimes grow, but not the work that is done in them.
      let isOverdue = work < .max && worked / 2 > work
      if isOld || isOverdue || isTight && hasLeft { proven.append(node) }
    }
    if proven.count < Self.leastOutlived {
      // One screen that the next one holds: where all siblings end in a scope, and there are but a few others.
      guard lifetime.deaths >= 8, !left.isEmpty, left.count <= 3, lifetime.departures.share(within: distance) >= 0.95 else { return nil }
      var family = family
      family.survivors = left
      return Suspicion(verdict: .outlived, family: family, homeDistance: distance, needsChain: true, least: 1)
    }
    // Survivors of a cache that fills up are the first of their kind.
    let births = (Double(lifetime.ordinalSum) / Double(lifetime.births) - Double(lifetime.firstOrdinal)) / range
    let survivors = proven.reduce(0.0) { $0 + Double(ordinal($1) - lifetime.firstOrdinal) / range } / Double(proven.count)
    guard survivors >= 0.5 * births else { return nil }
    // What a loop keeps of many may be what it was looking for, if something is done with it.
    if !isCalledBack(family, first), !isUnused(family) || !origin(block(first).site).hasUnit {
      return Suspicion(verdict: .outlived, family: family, homeDistance: distance, needsRegistration: true, least: Self.leastRegistered)
    }
    return Suspicion(verdict: .outlived, family: family, homeDistance: distance, least: Self.leastOutlived)
  }

  /// Activations of those in which it was made that control has left since.
  func departure(of block: LiveBlock) -> UInt32 {
    let depth = Int(sites[Int(block.site.rawValue)].depth)
    return UInt32(max(0, depth - activations.sharedDepth(block.strand, since: block.ordinal)))
  }

  /// An activation that survivors were made in, and that still runs.
  struct Home: Hashable {
    var strand: StrandID
    var began: UInt64
  }

  /// The scope in which its siblings end is still running, and is a scope of its own: not a loop around them all. `homes`: what is known of
  /// activations, so that each is looked at once.
  func isInFlight(_ block: LiveBlock, distance: UInt32, typical: UInt64, _ family: Family, _ homes: inout [Home: Bool]) -> Bool {
    let depth = Int(sites[Int(block.site.rawValue)].depth)
    let shared = activations.sharedDepth(block.strand, since: block.ordinal)
    guard depth - shared <= Int(distance), shared > 0 else { return false }
    guard let began = activations.beginning(of: block.strand, frame: depth - Int(distance) - 1) else { return false }
    let home = Home(strand: block.strand, began: began)
    if let known = homes[home] { return known }
    let births = family.survivors.lazy.map(self.block).filter { $0.strand == home.strand && $0.ordinal >= began }.map(\.birthTime)
    let isOwn = (births.max() ?? 0) - (births.min() ?? 0) <= typical
    homes[home] = isOwn
    return isOwn
  }

  /// What part of the program's work since the first of them the births take up.
  func spread(of family: Family) -> Double {
    guard let first = family.survivors.first.map(ordinal), let last = family.survivors.last.map(ordinal), activations.ordinal > first else { return 0 }
    return Double(last - first) / Double(activations.ordinal - first)
  }

  /// Births go on for much of the work from the first of them on, without long gaps.
  func growsSteadily(_ family: Family) -> Bool {
    let ordinals = family.survivors.map(ordinal)
    guard let first = ordinals.first, let last = ordinals.last, last > first, spread(of: family) >= 0.4 else { return false }
    var quarters = [0, 0, 0, 0]
    for ordinal in ordinals { quarters[min(3, Int(4 * (ordinal - first) / (last - first + 1)))] += 1 }
    let least = ordinals.count >= 16 ? Double(ordinals.count) * 0.08 : 0
    return quarters.filter { Double($0) > least }.count >= (ordinals.count >= 8 ? 4 : 3)
  }

  /// Hardly any of them was touched once nothing happened to any of their kind any more: what a program collects, it goes through.
  func isUnused(_ family: Family) -> Bool {
    let end = max(family.lifetime.lastOrdinal, family.lifetime.lastDeathOrdinal) / LiveBlock.useUnit + 1
    let used = family.survivors.count { UInt64(block($0).lastUse) > end }
    return used * 5 <= family.survivors.count
  }
}
