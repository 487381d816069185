// Finds objects that one of their owners let go, and that another owner keeps.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// Finds the partings of families: see `Partings`. A question may take one pass over the events, for all families that
/// may be asked about. For one thread at a time.
final class FamilyPartings {
  private let reader: TraceReader
  private let until: UInt64
  private var wanted: [[UInt32]] = []
  private var known: [[UInt32]: Partings.Result] = [:]
  private var passes = 0

  /// Maximum number of live objects in one pass, and of passes.
  private static let objectLimit = 100_000
  private static let passLimit = 3

  /// - Parameter until: the time of the image, in ticks.
  init(in reader: TraceReader, until: UInt64) { (self.reader, self.until) = (reader, until) }

  /// Chooses the families of the next pass, by their sites. No site is in two families.
  func mayBeAsked(about families: [[UInt32]]) { wanted = families }

  /// Returns the partings of a family with these sites. Nil if there were too many passes or objects, or if the limits
  /// of the trace's reader allow no further pass. One pass over the events if the family is new.
  func partings(of sites: [UInt32]) -> Partings.Result? {
    if known[sites] == nil, passes < Self.passLimit {
      passes += 1
      let families = wanted.contains(sites) ? wanted : [sites]
      let results = Partings.collect(
        families.map { $0.map(SiteID.init) }, until: until, limit: Self.objectLimit, in: reader)
      for (sites, result) in zip(families, results ?? []) { known[sites] = result }
    }
    return known[sites]
  }
}

extension SurvivorFinder {
  /// Returns whether the partings of a family may matter.
  func mayBeLeftBehind(_ family: Family) -> Bool {
    guard partings != nil, let first = family.survivors.first, isProgramObject(first) else { return false }
    return family.survivors.count >= rules.minOutlived && family.lifetime.deaths >= rules.minEnded
  }

  /// Returns a suspicion of survivors that one of their two owners let go, although siblings ended soon after that.
  ///
  /// For example, code that cancels an order removes it from a price list, but not from the table of orders. An order
  /// that is filled leaves both. The age of an object says nothing here: open orders may be as old.
  func leftBehind(_ family: Family) -> Suspicion? {
    guard mayBeLeftBehind(family), let found = partings?.partings(of: family.sites) else { return nil }
    var best: (nodes: [NodeID], evidence: Evidence, ended: Int)?
    for (level, ended) in found.ended.sorted(by: { $0.key < $1.key }) where UInt64(ended.count) >= rules.minEnded {
      let lone = found.lone[level] ?? Partings.Moment()
      let moments = ended.map(\.moment.work).sorted()
      var candidates: [(node: NodeID, parting: Partings.Parting)] = []
      for node in family.survivors {
        guard let (last, parting) = found.live[block(node).identity], last == level else { continue }
        candidates.append((node, parting))
      }
      let left = candidates.filter { node, parting in
        let (work, time) = (Double(parting.after.work), Double(parting.after.time))
        let later = moments.count - moments.partitioningIndex { $0 > parting.moment.work }
        return work > rules.ageFactor * Double(lone.work)
          && (time > rules.ageFactor * Double(lone.time) || work > rules.workAloneFactor * Double(lone.work))
          && Double(later) >= rules.minYoungerEnded && !isInUse(node, beyond: parting.age, in: family)
      }
      guard left.count >= rules.minOutlived, left.count > best?.nodes.count ?? 0 else { continue }
      let ages = left.map { Double($0.parting.after.work) }.sorted()
      best = (
        left.map(\.node),
        Evidence(rules, leftBehind: left.map(\.node), ratio: ages[ages.count / 2] / Double(max(1, lone.work))),
        ended.count
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

extension [UInt32] {
  /// Returns the first index whose element satisfies a condition that all later elements satisfy as well. O(log count).
  fileprivate func partitioningIndex(where condition: (UInt32) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if condition(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
