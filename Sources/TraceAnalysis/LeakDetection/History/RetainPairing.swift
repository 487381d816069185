// Pairs each release with the retain that it gave up.

import TraceReading

/// Pairs the retains and releases of one object. The runtime only counts: nothing records which reference a release
/// gives up. The rules assume how Swift code is compiled: code that takes a reference gives it up, or hands it to code
/// that does.
///
/// Rules in order, each applied to the whole history before the next, and a release always to a retain before it:
///
/// 1. A release in the activation of the retain's function, at the same line: the last such retain.
/// 2. The last release in the activation that allocated the object gives up the reference that it was allocated with.
/// 3. A release in the activation of the retain's function: the last such retain.
/// 4. One of the two in a function called, however deep, from the other's activation: the nearest, and of those the
///    last.
/// 5. The same function in another activation: the last.
/// 6. Functions of the same type, as where one method stores a reference and `deinit` gives it up: the oldest.
/// 7. Any other retain: the oldest.
///
/// After these rules, a release may be left without a retain before it. It then gets the retain of the latest release
/// after it, and that release is paired again by rule 7. So no release is left over, unless more references were given
/// up than taken.
///
/// An activation is identified by its function and by the stack outside of it: two calls from the same place are one.
///
/// O(events · rules), and for rule 4 O(places² · log depth). Rule 4 is left out beyond `placeLimit` places, and where
/// many objects together would take too long.
struct RetainPairing {
  struct Step {
    /// Index into the places.
    var place: Int
    /// References that it adds; negative: that it takes.
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
  /// By step: references that are not paired.
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

  /// `activations`: those that are the places' scopes. `spareComparisons`: how many pairs of places rule 4 may still
  /// compare, of this object and of those to come.
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
    // Keys are computed for the steps' places only: other objects may have many more.
    let places = places
    pair(order, taken: { key(places[$0]) }, givenUp: { key(places[$0]).map { [$0] } ?? [] })
  }

  /// `taken`: returns the key of a place's retains. `givenUp`: returns the keys that a place's releases search for, the
  /// best first.
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

  /// Rule 2.
  private mutating func pairAllocation() {
    guard let allocation = steps.firstIndex(where: { $0.isAllocation }), left[allocation] > 0,
      let scope = places[steps[allocation].place].scope,
      let release = steps.indices.last(where: {
        $0 > allocation && steps[$0].change < 0 && left[$0] > 0 && places[steps[$0].place].scope == scope
      })
    else { return }
    link(allocation, release)
  }

  /// Rule 4.
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

  /// A link that spans the present step: those to the latest releases come first, and of these the first that were
  /// taken.
  private struct Spanning: Comparable {
    var givenUp: Int
    var number: Int
    /// Index into the links.
    var link: Int

    static func < (a: Self, b: Self) -> Bool { (b.givenUp, a.number) < (a.givenUp, b.number) }
  }

  /// Sees to it that no release is left over if it need not be. O(n log n).
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
        // Then none spans it.
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

  /// Steps in order, some gone from either end.
  private struct OpenSteps {
    var steps: [Int] = []
    private var start = 0
    var first: Int? { start < steps.count ? steps[start] : nil }
    var last: Int? { start < steps.count ? steps.last : nil }
    mutating func removeFirst() { start += 1 }
    mutating func removeLast() { steps.removeLast() }
  }
}
