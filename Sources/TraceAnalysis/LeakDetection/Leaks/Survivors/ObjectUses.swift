// The uses of survivors, without the loops over all of them.

import HeapAnalysis
import TraceReading

/// Finds the uses of single objects: see `SingleUses`. The first question takes one pass over the events, for all
/// objects that may be asked about. For one thread at a time.
final class ObjectUses {
  private let graph: ObjectGraph
  private let reader: TraceReader
  private let sites: AllocationSites
  private let until: UInt64
  private var wanted: Set<NodeID> = []
  private var known: [NodeID: SingleUses.Use] = [:]
  private var passes = 0

  /// Maximum number of objects in one pass, and of passes.
  private static let objectLimit = 100_000
  private static let passLimit = 3

  /// - Parameter until: the time of the image, in ticks.
  init(_ graph: ObjectGraph, _ sites: AllocationSites, in reader: TraceReader, until: UInt64) {
    (self.graph, self.sites, self.reader, self.until) = (graph, sites, reader, until)
  }

  /// Adds objects to the next pass, unless it has too many then.
  func mayBeAsked(about nodes: [NodeID]) {
    let new = nodes.filter { known[$0] == nil && !wanted.contains($0) }
    if wanted.count + new.count <= Self.objectLimit { wanted.formUnion(new) }
  }

  /// Returns the single uses of some objects. Nil if there are too many objects or passes, or if the limits of the
  /// trace's reader allow no further pass. One pass over the events if one of the objects is new.
  func uses(of nodes: [NodeID]) -> [NodeID: SingleUses.Use]? {
    if nodes.contains(where: { known[$0] == nil }) {
      mayBeAsked(about: nodes)
      guard passes < Self.passLimit, wanted.isSuperset(of: nodes.filter { known[$0] == nil }) else { return nil }
      search()
    }
    let found = nodes.compactMap { node in known[node].map { (node, $0) } }
    return found.count == nodes.count ? Dictionary(found, uniquingKeysWith: { first, _ in first }) : nil
  }

  private func search() {
    passes += 1
    func kind(_ node: NodeID) -> UInt32 { sites[Int(graph.heap[BlockID(node)].site.rawValue)].type }
    let groups = Dictionary(grouping: wanted, by: kind).sorted { $0.key < $1.key }.map {
      (type: $0.key, nodes: $0.value.sorted())
    }
    wanted = []
    var sitesOfType: [UInt32: [SiteID]] = [:]
    let types = Set(groups.map(\.type))
    for site in sites where types.contains(site.type) { sitesOfType[site.type, default: []].append(site.number) }
    let objects = groups.map { type, nodes in
      SingleUses.Objects(blocks: nodes.map { graph.heap[BlockID($0)] }, sites: sitesOfType[type] ?? [])
    }
    guard let uses = SingleUses.collect(objects, until: until, in: reader) else { return }
    for (group, uses) in zip(groups, uses) {
      for (node, use) in zip(group.nodes, uses) { known[node] = use }
    }
  }
}

extension SurvivorFinder {
  /// Returns whether the uses of a family's survivors may be loops over all of them. A loop treats survivors like their
  /// siblings, so it does not show that survivors are needed. This is only clear if siblings end, and if the number of
  /// survivors grows evenly. Animals in a world, which multiply, are used in loops. Siblings must live through the
  /// births of others: code that compares each new object with all that it kept, and drops it, uses those.
  func mayBeLoopedOver(_ family: Family) -> Bool {
    guard objectUses != nil, let first = family.survivors.first, isProgramObject(first),
      family.survivors.count >= rules.minLooped, family.lifetime.deaths >= rules.minEnded,
      deviation(of: family.survivors, from: family.lifetime.firstOrdinal).lag <= rules.maxLagOfLooped,
      intervalsLived(family.lifetime) >= rules.minIntervalsLived || isInTable(first)
    else { return false }
    if lateUse(of: family) != .none { return true }
    let inUse = family.survivors.count { isInUse($0, beyond: 0, in: family) }
    return Double(inUse) > rules.usedShare * Double(family.survivors.count)
  }

  /// Returns the family, with the uses of its survivors without loops over all of them.
  func withSingleUses(_ family: Family) -> Family {
    guard mayBeLoopedOver(family), let uses = objectUses?.uses(of: family.survivors) else { return family }
    // Without loops, all uses count, and nothing inflates the work.
    let looped = family.survivors.count { node in
      let (block, use) = (block(node), uses[node] ?? SingleUses.Use())
      return use.last != block.lastUse || use.ages != block.useAges
    }
    guard Double(looped) > rules.usedShare * Double(family.survivors.count) else { return family }
    let passes = Population.deviation(of: family.survivors.map { uses[$0]?.passes ?? 0 })
    guard passes.lag <= rules.maxLagOfLooped else { return family }
    var result = family
    result.uses = uses
    let single = family.survivors.count { isInUse($0, beyond: 0, in: result) }
    let isLooped = Double(single) <= rules.maxSingleShare * Double(family.survivors.count)
    note(.loopedOver, isLooped ? .supports : .weakens, "\(single) of \(family.survivors.count) have other uses")
    return isLooped ? result : family
  }

  /// Returns whether survivors of a family that only grows may have single uses at an old age. All uses, with those in
  /// loops, are at least as many.
  func mayBeUsedSingly(_ family: Family) -> Bool {
    guard objectUses != nil, let first = family.survivors.first, isProgramObject(first),
      family.survivors.count >= rules.minLooped
    else { return false }
    let lifetime = family.lifetime
    let growth = Double(lifetime.lastOrdinal - min(lifetime.lastOrdinal, lifetime.firstOrdinal))
    let older = family.survivors.prefix(family.survivors.count / 2)
    let used = older.count { node in
      let block = block(node)
      let last = min(UInt64(block.lastUse) * LiveBlock.useUnit, lifetime.lastOrdinal)
      return Double(last - min(last, block.ordinal)) >= rules.minSpanOfUse / 2 * growth
    }
    return Double(used) > rules.maxSingleShare * Double(older.count)
  }

  /// Weakens a suspicion if the program went back to most of the older survivors one by one, at an old age, while their
  /// number grew.
  func weighSingleUses(of family: Family, in evidence: inout Evidence) {
    guard evidence.isStrong, mayBeUsedSingly(family), let uses = objectUses?.uses(of: family.survivors) else { return }
    let older = family.survivors.prefix(family.survivors.count / 2)
    let used = older.count { uses[$0]?.span ?? 0 >= rules.minSpanOfUse }
    weigh(
      .usedSingly, Double(used) <= rules.maxSingleShare * Double(older.count), "\(used) of \(older.count)",
      in: &evidence)
  }

  /// Returns the distance of survivors' births from even growth. Loops over a growing collection take more and more
  /// work. So the births of siblings are the measure of time, if they are known.
  func evenness(of family: Family) -> (lead: Double, lag: Double) {
    guard let uses = family.uses, let last = family.survivors.last.flatMap({ uses[$0]?.births }), last > 0 else {
      return deviation(of: family.survivors, from: family.lifetime.firstOrdinal)
    }
    return Population.deviation(of: family.survivors.map { (uses[$0]?.births ?? 0) / last })
  }

  /// Returns the share of the work between the first and the last survivor's birth, or of the births of siblings.
  func wholeSpread(of family: Family) -> Double {
    guard let uses = family.uses, let first = family.survivors.first, let last = family.survivors.last,
      let start = uses[first]?.births, let end = uses[last]?.births, start < 1
    else { return spread(of: family) }
    return (end - start) / (1 - start)
  }
}
