// Finds growth that a repetition proves by numbers: a holder has more objects after each counted round.

import HeapAnalysis
import TraceReading

/// The growth of one holder.
struct GrowthGroup {
  enum Subject: Hashable {
    case objects(GrowthUnit)
    /// Elements of the collections of a type.
    case elements(type: Int)
  }

  var place: HolderPlace
  var subject: Subject
  /// The objects that the place holds in the last heap image, nearest first. For elements, their collections.
  var members: [NodeID]
  /// The counts after each round, beginning with the last warm-up round.
  var counts: [UInt64]
}

/// Compares the heap images of a repetition, beginning with the last one. If the number of some objects did not grow in
/// the last round, earlier heap images are not searched for these objects. So a program without growth takes only two
/// graphs. At most two graphs are in memory at a time.
struct GrowthFinder {
  let images: [TraceSnapshot]
  let scene: GrowthScene
  let last: HolderTree
  /// Makes the graph of another heap image.
  let open: (TraceSnapshot) -> ObjectGraph?
  /// Report only these blocks of the last heap image; nil reports all.
  let wanted: ((LiveBlock) -> Bool)?

  /// Maximum number of candidates that are followed. If there are more, those with the most objects are chosen.
  private static let candidateLimit = 2000

  /// The heap images from the last warm-up round to the last round.
  private var counted: ArraySlice<TraceSnapshot> { images.dropFirst(Repetition.warmUpRounds - 1) }

  /// Returns the groups that grow; nil if a heap image cannot be analyzed. Linear in the graphs of the analyzed heap
  /// images. For each candidate, also linear in the objects that its holder holds.
  func groups() -> [GrowthGroup]? {
    var units = candidates()
    let witnessed = wanted.map(witnessedPlaces)
    var elements = last.elements { isNamed($0) && witnessed?.contains($0.place) ?? true }.filter {
      $0.value >= UInt64(counted.count - 1)
    }
    let targets = last.targets(of: Set(units.keys))
    var members: [HolderPlace: [GrowthUnit: [NodeID]]] = [:]
    var series: [HolderPlace: [GrowthUnit: [UInt64]]] = [:]
    for (place, wanted) in units {
      let found = last.members(of: wanted, at: place, from: targets[place] ?? [])
      members[place] = found
      series[place] = found.mapValues { [UInt64($0.count)] }
      units[place] = Set(found.keys)
    }
    var sums = elements.mapValues { [$0] }
    for image in counted.dropLast().reversed() {
      if units.isEmpty, elements.isEmpty { return [] }
      guard let graph = open(image) else { return nil }
      let tree = HolderTree(graph, scene)
      let targets = tree.targets(of: Set(units.keys))
      for (place, wanted) in units {
        let found = tree.members(of: wanted, at: place, from: targets[place] ?? [])
        for unit in wanted {
          let count = UInt64(found[unit]?.count ?? 0)
          if let after = series[place]?[unit]?.last, count < after {
            series[place]?[unit]?.append(count)
          } else {
            units[place]?.remove(unit)
          }
        }
        if units[place]?.isEmpty ?? true { units[place] = nil }
      }
      let found = tree.elements { elements[$0] != nil }
      for key in elements.keys {
        let count = found[key] ?? 0
        if let after = sums[key]?.last, count < after { sums[key]?.append(count) } else { elements[key] = nil }
      }
    }
    return objectGroups(units, series, members) + elementGroups(Set(elements.keys), sums)
  }

  // MARK: Candidates

  /// Returns the units that each counted round made and left with one holder, by holder. Units may be missing in the
  /// last round, since its objects may not have reached their final holder yet. Linear in the last heap image.
  private func candidates() -> [HolderPlace: Set<GrowthUnit>] {
    let graph = last.graph
    let rounds = counted.count - 1
    /// The number of live objects that each round made, by unit. `held` has these numbers by holder and unit.
    var births: [GrowthUnit: [UInt32]] = [:]
    var fresh: [(node: NodeID, unit: GrowthUnit, round: Int)] = []
    for (index, block) in graph.heap.blocks.enumerated() where !last.isKept(NodeID(index)) {
      guard let unit = last.unit(of: NodeID(index)), wanted?(block) ?? true,
        last.ownership.paths.reaches(NodeID(index)),
        let number = round(of: block)
      else { continue }
      births[unit, default: Array(repeating: 0, count: rounds)][number] += 1
      fresh.append((NodeID(index), unit, number))
    }
    let lasting = births.filter { $0.value.dropLast().allSatisfy { $0 > 0 } }
    struct Key: Hashable {
      var place: HolderPlace
      var unit: GrowthUnit
    }
    var held: [Key: [UInt32]] = [:]
    for (node, unit, round) in fresh where lasting[unit] != nil {
      guard let place = last.entry(of: node).flatMap(last.place) else { continue }
      held[Key(place: place, unit: unit), default: Array(repeating: 0, count: rounds)][round] += 1
    }
    var result: [HolderPlace: Set<GrowthUnit>] = [:]
    let chosen = held.filter { $0.value.dropLast().allSatisfy { $0 > 0 } }.map {
      (key: $0.key, count: $0.value.reduce(0) { $0 &+ UInt64($1) })
    }
    .sorted { $0.count > $1.count }.prefix(Self.candidateLimit)
    for entry in chosen { result[entry.key.place, default: []].insert(entry.key.unit) }
    return result
  }

  /// Returns the round that made a block, from 0 for the first counted round. Nil for blocks made after the last round.
  private func round(of block: LiveBlock) -> Int? {
    counted.dropFirst().firstIndex { block.birthTime <= $0.time }.map { $0 - counted.startIndex - 1 }
  }

  /// Returns places that hold an object from each counted round, among the blocks that may be reported. An element of a
  /// collection is not a block, but the object that it refers to is. Linear in the last heap image.
  private func witnessedPlaces(_ wanted: (LiveBlock) -> Bool) -> Set<HolderPlace> {
    var rounds: [HolderPlace: [Bool]] = [:]
    for (index, block) in last.graph.heap.blocks.enumerated() where !last.isKept(NodeID(index)) && wanted(block) {
      guard let round = round(of: block), let place = last.entry(of: NodeID(index)).flatMap(last.place) else {
        continue
      }
      rounds[place, default: Array(repeating: false, count: counted.count - 1)][round] = true
    }
    return Set(rounds.filter { $0.value.dropLast().allSatisfy { $0 } }.keys)
  }

  /// Returns whether a field or variable of the program holds a collection. Collections that libraries keep for
  /// themselves belong to the libraries.
  private func isNamed(_ key: HolderTree.CollectionKey) -> Bool {
    switch key.place {
    case .field: true
    case .global: true
    case .library: false
    }
  }

  // MARK: Results

  private func objectGroups(
    _ units: [HolderPlace: Set<GrowthUnit>], _ series: [HolderPlace: [GrowthUnit: [UInt64]]],
    _ members: [HolderPlace: [GrowthUnit: [NodeID]]]
  ) -> [GrowthGroup] {
    units.flatMap { place, units in
      units.compactMap { unit in
        var counts = Array((series[place]?[unit] ?? []).reversed())
        guard var nodes = members[place]?[unit], !nodes.isEmpty else { return nil }
        if let wanted {
          // The growth of all objects is proven. The wanted objects that remain show their share of the growth.
          nodes = nodes.filter { wanted(last.graph.heap[BlockID($0)]) }
          counts = counted.map { image in UInt64(nodes.count { last.graph.heap[BlockID($0)].birthTime <= image.time }) }
        }
        guard RoundCounts(counts: counts).grows else { return nil }
        return GrowthGroup(place: place, subject: .objects(unit), members: nodes, counts: counts)
      }
    }
  }

  private func elementGroups(_ keys: Set<HolderTree.CollectionKey>, _ sums: [HolderTree.CollectionKey: [UInt64]])
    -> [GrowthGroup]
  {
    let growing = keys.filter { RoundCounts(counts: (sums[$0] ?? []).reversed()).growsEvenly }
    guard !growing.isEmpty else { return [] }
    var members: [HolderTree.CollectionKey: [NodeID]] = [:]
    for node in 0..<NodeID(last.graph.blockCount) where last.isCollection(node) && last.elementCount(of: node) > 0 {
      if let key = last.collectionKey(of: node), growing.contains(key) { members[key, default: []].append(node) }
    }
    return growing.map { key in
      GrowthGroup(
        place: key.place, subject: .elements(type: key.type), members: members[key] ?? [],
        counts: (sums[key] ?? []).reversed())
    }
  }
}
