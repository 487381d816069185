// Finds objects that one of their owners let go, and that another owner keeps.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// Finds the partings of families: see `Partings`. The first question takes one pass over the events. For one thread at a
/// time.
final class FamilyPartings {
  private let graph: ObjectGraph
  private let sites: AllocationSites
  private let reader: TraceReader
  private let until: UInt64
  private let rules: SurvivorRules

  /// Maximum number of live objects.
  private static let objectLimit = 200_000

  /// - Parameter until: the time of the image, in ticks.
  init(
    _ graph: ObjectGraph, _ sites: AllocationSites, in reader: TraceReader, until: UInt64,
    rules: SurvivorRules = .standard
  ) {
    (self.graph, self.sites, self.reader, self.until, self.rules) = (graph, sites, reader, until, rules)
  }

  /// Returns the partings of a family with these sites. Nil if there were too many objects, or if the limits of the
  /// trace's reader allow no pass over the events.
  func partings(of sites: [UInt32]) -> Partings.Result? {
    guard let bySite else { return nil }
    return sites.reduce(into: Partings.Result()) { sum, site in
      if let found = bySite[SiteID(site)] { sum += found }
    }
  }

  private lazy var bySite: [SiteID: Partings.Result]? = {
    let chosen = candidates()
    return chosen.isEmpty ? [:] : Partings.collect(chosen, until: until, limit: Self.objectLimit, in: reader)
  }()

  /// Returns the sites of the program's types that may have a family with partings.
  private func candidates() -> [SiteID] {
    var types: [UInt32: (survivors: Int, deaths: UInt64, sites: [SiteID])] = [:]
    for node in 0..<NodeID(graph.blockCount) {
      let type = graph.type(of: node)
      guard type.kind == .object, !type.module.isEmpty, !SystemCode.isSystemModule(type.module) else { continue }
      types[sites[Int(graph.heap[BlockID(node)].site.rawValue)].type, default: (0, 0, [])].survivors += 1
    }
    for site in sites where types[site.type]?.survivors ?? 0 >= rules.minOutlived {
      types[site.type]!.deaths += site.deaths
      types[site.type]!.sites.append(site.number)
    }
    return types.values.flatMap { $0.deaths >= rules.minEnded ? $0.sites : [] }.sorted()
  }
}

extension SurvivorFinder {
  /// Returns a suspicion of survivors that one of their two owners let go, although siblings ended soon after that.
  ///
  /// For example, code that cancels an order removes it from a price list, but not from the table of orders. An order
  /// that is filled leaves both. The age of an object says nothing here: open orders may be as old.
  func leftBehind(_ family: Family) -> Suspicion? {
    guard let first = family.survivors.first, isProgramObject(first), family.survivors.count >= rules.minOutlived,
      family.lifetime.deaths >= rules.minEnded, let found = partings?.partings(of: family.sites)
    else { return nil }
    var best: (nodes: [NodeID], evidence: Evidence, ended: Int)?
    for level in 1...Partings.levels where found.ended[level - 1].count >= rules.minEnded {
      let (ended, lone) = (found.ended[level - 1], found.lone[level - 1])
      let left = family.survivors.compactMap { node -> (node: NodeID, work: Double)? in
        guard let (last, parting) = found.live[block(node).identity], last == level else { return nil }
        let (work, time) = (Double(parting.after.work), Double(parting.after.time))
        let isAlone =
          work > rules.ageFactor * Double(lone.work)
          && (time > rules.ageFactor * Double(lone.time) || work > rules.workAloneFactor * Double(lone.work))
        return isAlone && ended.lastButOne > parting.moment.work && !isInUse(node, beyond: parting.age, in: family)
          ? (node, work) : nil
      }
      guard left.count >= rules.minOutlived, left.count > best?.nodes.count ?? 0 else { continue }
      let ages = left.map(\.work).sorted()
      best = (
        left.map(\.node),
        Evidence(rules, leftBehind: left.map(\.node), ratio: ages[ages.count / 2] / Double(max(1, lone.work))),
        Int(clamping: ended.count)
      )
    }
    guard let best else { return nil }
    let growth = growth(of: family, by: best.nodes)
    var family = family
    family.survivors = best.nodes
    // Code lets go of objects when it registers them. Other suspicions judge registrations.
    var suspicion = Suspicion(
      verdict: .outlived, family: family, isLeftBehind: true, needsHolder: true, chaining: chaining(of: family),
      least: rules.minOutlived, evidence: best.evidence)
    weigh(.populationGrew, growth != nil, growth.map { "\($0)" } ?? "", in: &suspicion.evidence)
    weigh(
      .leftBehind, true, "\(best.nodes.count) live on, \(best.ended) ended soon after an owner let them go",
      in: &suspicion.evidence)
    weigh(.minority, best.nodes.count <= best.ended, "\(best.nodes.count) and \(best.ended)", in: &suspicion.evidence)
    weigh(.unusedAtTheEnd, lateUse(of: family) != .long, in: &suspicion.evidence)
    lettingGo?.mayBeAsked(about: someOf(best.nodes))
    return suspicion
  }

  /// Returns the program's line that let go of most of some objects; nil if it is not known.
  func placeOfLettingGo(_ nodes: [NodeID]) -> SourceFrame? {
    let sample = someOf(nodes)
    let places = LettingGo.places(lettingGo?.releases(of: sample).map(\.release) ?? [])
    return places.first.flatMap { $0.releases * 2 > sample.count && $0.place.line != nil ? $0.place : nil }
  }
}
