// Pairs each release with the retain whose reference it released.

import TraceReading

/// Pairs the retains and releases of one object. The runtime only counts references, so nothing records which reference
/// a release ends. The rules rely on how Swift compiles code: code that takes a reference releases it, or passes it to
/// code that does.
///
/// Each rule is applied to the whole history before the next rule. A release is only paired with an earlier retain. A
/// rule defines the retains that a release may take, and which one it takes if there are several:
///
/// 1. Retains in the activation and at the line of the release: the last one.
/// 2. The last release in the activation that allocated the object takes the allocation, which counts as a retain.
/// 3. Retains in the activation of the release: the last one.
/// 4. Retains in an activation that called the activation of the release, or was called by it, directly or through
///    others: the last one in the nearest activation.
/// 5. Retains in other activations of the same function: the last one.
/// 6. Retains in functions of the same type, such as a method that stores and a `deinit` that releases: the oldest one.
/// 7. All other retains: the oldest one.
///
/// After these rules, a release may be left without an earlier retain, although later releases took earlier retains.
/// The release then takes the retain of the last such later release. That later release is paired again by rule 7. So
/// no release is left over, unless more references were released than taken.
///
/// An activation is identified by its function and by the stack of its caller, so two calls from the same place count
/// as one activation.
///
/// O(events · rules), and O(places² · log depth) for rule 4. Rule 4 is skipped if there are more than `placeLimit`
/// places, or if the comparisons for many objects would take too long together.
struct RetainPairing {
  struct Step {
    /// Index into the places.
    var place: Int
    /// The number of references that the step adds; negative for a release.
    var change: Int64
    var isAllocation = false
  }

  struct Link: Hashable {
    /// Indices of steps.
    var taken: Int
    var givenUp: Int
    var count: Int64
  }

  static let placeLimit = 2000

  let steps: [Step]
  private let places: [RetainPlace]
  private let activations: ActivationTree
  /// For each step: the number of references that are not paired.
  private(set) var left: [Int64]
  private(set) var links: [Link] = []

  private enum Order { case first, last }
  private struct Key: Hashable {
    var number: Int
    var line = 0
  }

  init(_ steps: [Step], places: [RetainPlace], activations: ActivationTree) {
    var spare = Int.max
    self.init(steps, places: places, activations: activations, spareComparisons: &spare)
  }

  /// `activations`: the activations that the places' scopes refer to by number. `spareComparisons`: the number of pairs
  /// of places that rule 4 may still compare, for this object and the following ones.
  init(_ steps: [Step], places: [RetainPlace], activations: ActivationTree, spareComparisons: inout Int) {
    self.steps = steps
    self.places = places
    self.activations = activations
    left = steps.map { Int64(clamping: $0.change.magnitude) }
    pair(.last) { place in place.scope.map { Key(number: $0, line: place.line) } }
    pairAllocation()
    pair(.last) { $0.scope.map { Key(number: $0) } }
    pairNested(&spareComparisons)
    pair(.last) { $0.function.map { Key(number: $0) } }
    pair(.first) { $0.owner.map { Key(number: $0) } }
    pair(.first) { _ in Key(number: 0) }
    settle()
  }

  /// Pairs retains and releases whose places have equal keys.
  private mutating func pair(_ order: Order, by key: (RetainPlace) -> Key?) {
    // Compute keys only for the places of these steps: other objects may have many more places.
    let places = places
    pair(order, taken: { key(places[$0]) }, givenUp: { key(places[$0]).map { [$0] } ?? [] })
  }

  /// `taken`: returns the key of the retains at a place. `givenUp`: returns the keys of the retains that the releases
  /// at a place may take, the best key first.
  private mutating func pair(_ order: Order, taken: (Int) -> Key?, givenUp: (Int) -> [Key]) {
    var open: [Key: OpenSteps] = [:]
    for index in steps.indices where left[index] > 0 {
      let place = steps[index].place
      if steps[index].change > 0 {
        if let key = taken(place) { open[key, default: OpenSteps()].steps.append(index) }
        continue
      }
      for key in givenUp(place) where left[index] > 0 {
        while left[index] > 0, let candidate = order == .last ? open[key]?.last : open[key]?.first {
          link(candidate, index)
          if left[candidate] == 0 { if order == .last { open[key]?.removeLast() } else { open[key]?.removeFirst() } }
        }
      }
    }
  }

  private mutating func link(_ taken: Int, _ givenUp: Int) {
    let count = min(left[taken], left[givenUp])
    left[taken] -= count
    left[givenUp] -= count
    links.append(Link(taken: taken, givenUp: givenUp, count: count))
  }

  /// Applies rule 2.
  private mutating func pairAllocation() {
    guard let allocation = steps.firstIndex(where: { $0.isAllocation }), left[allocation] > 0,
      let scope = places[steps[allocation].place].scope,
      let release = steps.indices.last(where: {
        $0 > allocation && steps[$0].change < 0 && left[$0] > 0 && places[steps[$0].place].scope == scope
      })
    else { return }
    link(allocation, release)
  }

  /// Applies rule 4.
  private mutating func pairNested(_ spareComparisons: inout Int) {
    let (places, activations) = (places, activations)
    var taking: Set<Int> = []
    var releasing: Set<Int> = []
    for index in steps.indices where left[index] > 0 {
      if steps[index].change > 0 { taking.insert(steps[index].place) } else { releasing.insert(steps[index].place) }
    }
    let used = taking.sorted()
    guard used.count <= Self.placeLimit else { return }
    let (comparisons, overflow) = used.count.multipliedReportingOverflow(by: releasing.count)
    guard !overflow, comparisons <= spareComparisons else { return }
    spareComparisons -= comparisons
    var known: [Int: [Key]] = [:]
    pair(.last, taken: { Key(number: $0) }) { release in
      if let candidates = known[release] { return candidates }
      var candidates: [(place: Int, distance: Int)] = []
      for place in used {
        guard let inner = places[release].scope, let outer = places[place].scope else { continue }
        if let distance = activations.distance(inner, outer) { candidates.append((place, distance)) }
      }
      let keys = candidates.sorted { ($0.distance, $0.place) < ($1.distance, $1.place) }.map { Key(number: $0.place) }
      known[release] = keys
      return keys
    }
  }

  /// A link from a retain before the present step to a release after it. Links to the latest releases come first. Among
  /// links to one release, the link with the earliest retain comes first.
  private struct Spanning: Comparable {
    var givenUp: Int
    var number: Int
    /// Index into the links.
    var link: Int

    static func < (a: Self, b: Self) -> Bool { (b.givenUp, a.number) < (a.givenUp, b.number) }
  }

  /// Pairs the releases that are left over, if an exchange of retains makes that possible. O(n log n).
  private mutating func settle() {
    guard steps.indices.contains(where: { steps[$0].change < 0 && left[$0] > 0 }) else { return }
    let linksOfTaken = Dictionary(grouping: links.indices, by: { links[$0].taken })
    var spanning = PriorityQueue<Spanning>()
    var count = 0
    var open = OpenSteps()
    for index in steps.indices {
      if steps[index].change > 0 {
        for link in linksOfTaken[index] ?? [] {
          spanning.insert(Spanning(givenUp: links[link].givenUp, number: count, link: link))
          count += 1
        }
        if left[index] > 0 { open.steps.append(index) }
      }
      guard steps[index].change < 0 else { continue }
      while left[index] > 0, let taken = open.first {
        link(taken, index)
        if left[taken] == 0 { open.removeFirst() }
      }
      while left[index] > 0, let first = spanning.first {
        // The first link has the latest release, so no link spans this step.
        if first.givenUp <= index {
          spanning = PriorityQueue()
          break
        }
        let link = first.link
        let count = min(left[index], links[link].count)
        links[link].count -= count
        left[links[link].givenUp] += count
        left[index] -= count
        if count > 0 { links.append(Link(taken: links[link].taken, givenUp: index, count: count)) }
        if links[link].count == 0 { spanning.removeFirst() }
      }
    }
    links.removeAll { $0.count == 0 }
  }

  /// Steps in order, which can be removed at both ends.
  private struct OpenSteps {
    var steps: [Int] = []
    private var start = 0
    var first: Int? { start < steps.count ? steps[start] : nil }
    var last: Int? { start < steps.count ? steps.last : nil }
    mutating func removeFirst() { start += 1 }
    mutating func removeLast() { steps.removeLast() }
  }
}
