// Lists the collections and task groups that grew during the run. The list states facts and blames no code.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// A field or variable of the program whose collections keep growing, or a task group with finished children whose
/// results no code reads.
package struct GrownCollection: Codable, Hashable, Sendable {
  /// The name of the holder: `Room.log`, a variable, or `task group in serve()`.
  package var holder: String
  /// The number of objects that have such a collection with elements. 1 for a variable.
  package var holders: Int
  /// The type of most elements, without modules.
  package var type: String
  package var elements: Int
  /// Bytes of the elements themselves. If the elements have no memory of their own, bytes of their collections.
  package var bytes: ByteCount
  /// The number of live elements that were made before the end of each quarter of the process's events. If the elements
  /// have no memory of their own, the numbers between two enlargements of their collection are interpolated.
  package var quarters: [Int]
}

/// Examines the collections of the program's own objects and variables.
///
/// No rule hides a collection. A collection is listed if it has enough elements, and if their number grew until the end
/// of the run, or for a large part of the run. A ring or a cache with a limit replaces its elements, and is not listed.
/// The reader decides whether growth is intended.
struct GrownCollections {
  private let graph: ObjectGraph
  private let naming: FindingNaming
  /// Whether each type is one of the program's own classes, by index of the type.
  private let ownTypes: [Bool]
  private let unreachable: NodeSet
  private let sites: AllocationSites
  /// The number of the process's events up to the heap image.
  private let lastOrdinal: UInt64

  /// Minimum number of elements. Smaller numbers may be due to chance.
  private static let minElements = 16
  /// Minimum share of the elements that the last quarter of the run must have added.
  private static let minLateShare = 0.05
  /// The rule if the last quarter of the run added too few elements. `minSpan`: the minimum share of the process's
  /// events between the first and the last element. The last quarter of that span must have added at least the share
  /// `minLateShareOfSpan` of the elements.
  private static let minSpan = 0.4
  private static let minLateShareOfSpan = 0.15
  /// Maximum depth of nested collections that are searched.
  private static let depthLimit = 4
  /// Maximum number of references that are examined to find out whether a library's object has elements.
  private static let looks = 64

  init(_ verdicts: Verdicts, naming: FindingNaming) {
    (graph, self.naming, unreachable) = (verdicts.model.graph, naming, verdicts.finder.unreachable)
    ownTypes = graph.types.map { naming.isOwn($0) }
    (sites, lastOrdinal) = (verdicts.model.trace.sites, verdicts.model.activations.ordinal)
  }

  private struct Key: Hashable {
    /// Index of the holder's type, or the root's node.
    var holder: UInt32
    var isRoot: Bool
    /// The field; for a root, the collection itself.
    var place: UInt32
  }

  private struct Row {
    var elements: [NodeID] = []
    /// Each collection is examined once, even if several holders share it.
    var collections: Set<NodeID> = []
    /// Collections whose elements have no memory of their own.
    var plain: [NodeID] = []
    var holders = 0
    var edge: EdgeIndex
    var source: NodeID
  }

  /// Returns all rows, most bytes first. Linear in the graph.
  func rows() -> [GrownCollection] {
    let collections = collections()
    return (collections + chains(besides: collections) + unreadChildren()).sorted {
      ($0.bytes.rawValue, $0.elements, $1.holder) > ($1.bytes.rawValue, $1.elements, $0.holder)
    }
  }

  private func collections() -> [GrownCollection] {
    var rows: [Key: Row] = [:]
    for node in 0..<NodeID(graph.graph.nodeCount) where isHolder(node) {
      let isRoot = graph.isRoot(node)
      for edge in graph.graph.edges(from: node) where isKeeping(edge) {
        let target = graph.graph.target(of: edge)
        guard isCollection(target) || isContainer(target) else { continue }
        let key = Key(
          holder: isRoot ? node : graph.nodeTypes[Int(node)], isRoot: isRoot,
          place: isRoot ? target : graph.graph.label(of: edge))
        guard rows[key, default: Row(edge: edge, source: node)].collections.insert(target).inserted else { continue }
        let known = (rows[key]!.elements.count, rows[key]!.plain.count)
        addElements(of: target, depth: 0, to: &rows[key]!)
        if (rows[key]!.elements.count, rows[key]!.plain.count) != known { rows[key]!.holders += 1 }
      }
    }
    return rows.values.compactMap { row in
      let holder = { naming.place(of: row.edge, from: row.source) }
      return fact(Set(row.elements), holders: row.holders, holder: holder)
        ?? fact(ofValuesIn: row.plain, holders: row.holders, holder: holder)
    }
  }

  /// References from objects of one type to objects of another type.
  private struct Link: Hashable {
    var from: UInt32
    var to: UInt32
    var reversed: Link { Link(from: to, to: from) }
  }

  /// Returns lists without a collection: objects of one or two types that hold one another in a chain, with one field
  /// of each type. `besides`: collections whose objects are not reported again.
  private func chains(besides collections: [GrownCollection]) -> [GrownCollection] {
    var counts: [Link: Int] = [:]
    forEachLink { link, _, _ in counts[link, default: 0] += 1 }
    // In a chain of two types, each type has half of the references.
    let wanted = counts.filter { $0.value * 2 >= Self.minElements && counts[$0.key.reversed] != nil }
    guard !wanted.isEmpty else { return [] }
    var links: [Link: (edge: EdgeIndex, source: NodeID, elements: Set<NodeID>)] = [:]
    forEachLink { link, edge, source in
      guard wanted[link] != nil else { return }
      links[link, default: (edge, source, [])].elements.formUnion([source, graph.graph.target(of: edge)])
    }
    return links.compactMap { link, found -> GrownCollection? in
      guard link.from <= link.to, let back = links[link.reversed] else { return nil }
      // An object with parts that refer to their owner is not a chain.
      let elements = found.elements.filter { graph.nodeTypes[Int($0)] == link.from }
      let isRow =
        link.from == link.to
        || isJoined(elements, by: found.elements.intersection(back.elements).subtracting(elements))
      guard isRow, let fact = fact(elements, holders: 1, holder: { naming.place(of: found.edge, from: found.source) }),
        !collections.contains(where: { $0.type == fact.type && $0.elements >= fact.elements })
      else { return nil }
      return fact
    }
  }

  /// Calls `body` for the references between the program's own objects that are reachable. Linear in the graph.
  private func forEachLink(_ body: (Link, EdgeIndex, NodeID) -> Void) {
    for node in 0..<NodeID(graph.blockCount) where graph.type(of: node).kind == .object && isHolder(node) {
      for edge in graph.graph.edges(from: node) where isKeeping(edge) {
        let target = graph.graph.target(of: edge)
        guard !graph.isRoot(target), graph.type(of: target).kind == .object, isOwn(target) else { continue }
        body(Link(from: graph.nodeTypes[Int(node)], to: graph.nodeTypes[Int(target)]), edge, node)
      }
    }
  }

  /// Returns whether objects of another type lead from most elements to other elements.
  private func isJoined(_ elements: Set<NodeID>, by others: Set<NodeID>) -> Bool {
    let joined = elements.count { element in
      graph.graph.edges(from: element).contains { edge in
        let other = graph.graph.target(of: edge)
        return isKeeping(edge) && others.contains(other)
          && graph.graph.edges(from: other).contains {
            isKeeping($0) && graph.graph.target(of: $0) != element && elements.contains(graph.graph.target(of: $0))
          }
      }
    }
    return joined * 2 > elements.count
  }

  /// Returns the finished child tasks of groups whose results no code has read, by the place that added them to the
  /// group. Only memory of the runtime refers to such a task. If there is another reference, an object or a variable
  /// has a handle to the task.
  private func unreadChildren() -> [GrownCollection] {
    var tasks = Set(graph.taskStates.lazy.filter { $0.value == .finished && !unreachable.contains($0.key) }.map(\.key))
    guard tasks.count >= Self.minElements else { return [] }
    tasks.subtract(TaskHandles.tasks(in: graph))
    return Dictionary(grouping: tasks) { graph.heap[BlockID($0)].site }.values.compactMap { children in
      fact(Set(children), holders: 1, type: "finished child task") {
        naming.allocation(of: children[0]).map { "task group in \($0.function)" } ?? "task group"
      }
    }
  }

  private func isOwn(_ node: NodeID) -> Bool { ownTypes[Int(graph.nodeTypes[Int(node)])] }

  private func isHolder(_ node: NodeID) -> Bool {
    if graph.isRoot(node) {
      guard case .global(let image) = graph.root(node).kind else { return false }
      return !SystemCode.isSystemImage(graph.roots.images[image].path)
    }
    return !unreachable.contains(node) && isOwn(node)
  }

  private func isKeeping(_ edge: EdgeIndex) -> Bool {
    ObjectGraph.keeping.contains(EdgeKinds(kind: graph.graph.kind(of: edge)))
  }

  private func isCollection(_ node: NodeID) -> Bool {
    !graph.isRoot(node) && [.array, .dictionary, .set].contains(graph.type(of: node).kind)
  }

  /// Returns whether an object of a library keeps elements for its holder, such as a deque or the state behind a lock.
  private func isContainer(_ node: NodeID) -> Bool {
    guard !graph.isRoot(node), graph.type(of: node).kind == .object, !isOwn(node) else { return false }
    var elements = 0
    for edge in graph.graph.edges(from: node).prefix(Self.looks) where isKeeping(edge) {
      let target = graph.graph.target(of: edge)
      if isCollection(target) { return true }
      if !graph.isRoot(target), graph.type(of: target).kind.isCounted { elements += 1 }
    }
    return elements >= Self.minElements
  }

  private func addElements(of collection: NodeID, depth: Int, to row: inout Row) {
    var isPlain = true
    for edge in graph.graph.edges(from: collection) where isKeeping(edge) {
      let target = graph.graph.target(of: edge)
      if isCollection(target) {
        isPlain = false
        if depth < Self.depthLimit { addElements(of: target, depth: depth + 1, to: &row) }
      } else if graph.type(of: target).kind.isCounted {
        isPlain = false
        row.elements.append(target)
      }
    }
    if isPlain, isCollection(collection), count(of: collection) > 0 { row.plain.append(collection) }
  }

  /// Returns the element count that a collection stores. 0 if the collection is too small for this count, or if the
  /// heap image does not have the count.
  private func count(of collection: NodeID) -> UInt64 {
    let block = graph.heap[BlockID(collection)]
    let count = graph.image.word(at: block.address &+ Self.countOffset) ?? 0
    return count <= block.size ? count : 0
  }

  /// One collection of values, such as numbers or structures of numbers. Its last enlargement allocated its present
  /// block.
  private struct Values {
    var count: Int
    /// The number of elements at the last enlargement: half of the capacity. Nil if the heap image does not have the
    /// capacity.
    var half: Int?
    /// Positions among the process's events: the last enlargement, and the first allocation of such memory.
    var enlarged: UInt64
    var first: UInt64

    /// Returns the number of elements at an event of the process, interpolated between the known moments.
    func count(by ordinal: UInt64, of last: UInt64) -> Double {
      let middle = half.map { [(enlarged, $0)] } ?? []
      let known = [(first, 0)] + middle + [(max(last, enlarged &+ 1), count)]
      guard let next = known.firstIndex(where: { $0.0 > ordinal }) else { return Double(count) }
      guard next > 0 else { return 0 }
      let (from, to) = (known[next - 1], known[next])
      return Double(from.1) + Double(to.1 - from.1) * Double(ordinal - from.0) / Double(to.0 - from.0)
    }
  }

  /// Offsets in bytes from the start of a collection.
  private static let countOffset: UInt64 = 16
  private static let capacityOffset: UInt64 = 24
  /// Minimum number of values. Fewer values are of no interest.
  private static let minValues = 128
  /// Maximum number of enlargements of a collection in addition to the enlargements that double it.
  private static let otherEnlargements = 4.0

  /// Maximum of the bytes that the enlargements of collections allocated, as a multiple of their last sizes. Each
  /// enlargement doubles the size, so all of them together allocate twice the last size. Collections that other ones
  /// replace allocate their full sizes each time.
  private static let maxAllocated: UInt64 = 3

  /// Returns whether the blocks at some places replaced one another without becoming larger. False if that is unknown,
  /// since the trace's totals include allocations after the heap image.
  private func areReplaced(_ places: Set<UInt32>, births: UInt64, bytes: UInt64) -> Bool {
    let totals = places.map { sites[Int($0)].total }
    guard totals.reduce(0, { $0 &+ $1.allocatedBlocks }) == births else { return false }
    return totals.reduce(0) { $0 &+ $1.allocatedBytes } / Self.maxAllocated > bytes
  }

  /// Returns a fact about values that have no memory of their own. Their collections must have been enlarged several
  /// times, and late in the run. Three kinds of collections do not count: those that are replaced for each piece of
  /// work, those whose holders are replaced, and those that were emptied.
  private func fact(ofValuesIn collections: [NodeID], holders: Int, holder: () -> String) -> GrownCollection? {
    var (values, bytes): ([Values], UInt64) = ([], 0)
    var places: Set<UInt32> = []
    var enlargements = 0.0
    for collection in collections {
      let (block, count) = (graph.heap[BlockID(collection)], count(of: collection))
      // The heap image has the capacity of hash tables, but not of arrays.
      let isTable = graph.type(of: collection).kind != .array
      let half = isTable ? graph.image.word(at: block.address &+ Self.capacityOffset).map { $0 / 2 } : nil
      places.insert(block.site.rawValue)
      enlargements += Double(UInt64.bitWidth - count.leadingZeroBitCount) + Self.otherEnlargements
      guard half ?? 0 <= count else { continue }
      values.append(
        Values(
          count: Int(count), half: half.map(Int.init), enlarged: block.ordinal,
          first: min(block.ordinal, sites[Int(block.site.rawValue)].lifetime.firstOrdinal)))
      bytes &+= block.size
    }
    let (count, births) = (
      values.reduce(0) { $0 + $1.count }, places.reduce(UInt64(0)) { $0 + sites[Int($1)].lifetime.births }
    )
    let late = values.filter { Double($0.enlarged) >= Self.minSpan * Double(lastOrdinal) }
    guard count >= Self.minValues, births >= 2 * UInt64(collections.count), Double(births) <= enlargements,
      late.reduce(0, { $0 + $1.count }) * 2 > count, !areReplaced(places, births: births, bytes: bytes)
    else { return nil }
    let quarters = (1...4).map { quarter in
      Int(values.reduce(0.0) { $0 + $1.count(by: lastOrdinal / 4 * UInt64(quarter), of: lastOrdinal) })
    }
    return GrownCollection(
      holder: holder(), holders: holders, type: elementType(of: collections[0]), elements: count,
      bytes: ByteCount(bytes), quarters: quarters.dropLast() + [count])
  }

  private func elementType(of collection: NodeID) -> String {
    let name = graph.type(of: collection).name
    switch graph.type(of: collection).kind {
    case .array where name.hasPrefix("["): return String(name.dropFirst().dropLast())
    case .set where name.hasPrefix("Set<"): return String(name.dropFirst(4).dropLast())
    default: return "entry of \(name)"
    }
  }

  /// Returns the number of live objects that the last quarter of a period added, for all objects from the elements'
  /// allocation sites. A program may replace all elements of a collection again and again. At a moment in between,
  /// there are none, so the median of the third quarter counts as well.
  private func lateGrowth(of elements: Set<NodeID>, from start: UInt64, to end: UInt64) -> Int {
    let places = Set(elements.map { graph.heap[BlockID($0)].site.rawValue })
    let population = Population(places.map { sites[Int($0)].liveCurve }, from: start, to: end)
    let before = max(population.live(at: 0.75), UInt64(population.level(0.5...0.75).median))
    let after = population.live(at: 1)
    return Int(clamping: after > before ? after - before : 0)
  }

  /// Returns whether the elements were made over a large part of the run, at an almost even rate. After that, the
  /// program may spend a part of the run on work with all elements.
  private func grewForLong(_ elements: Set<NodeID>) -> Bool {
    let births = elements.map { graph.heap[BlockID($0)].ordinal }
    guard let first = births.min(), let last = births.max(), last > first,
      Double(last - first) >= Self.minSpan * Double(lastOrdinal)
    else { return false }
    let late = births.count { $0 > last - (last - first) / 4 }
    return Double(min(late, lateGrowth(of: elements, from: first, to: last)))
      >= Self.minLateShareOfSpan * Double(elements.count)
  }

  /// `type`: replaces the most frequent type of the elements. `holder`: returns the name, which takes time to find.
  private func fact(
    _ elements: Set<NodeID>, holders: Int, type name: String? = nil, holder: () -> String
  ) -> GrownCollection? {
    // The keys of a dictionary may also be blocks. Count only the program's own objects if there are any.
    let own = elements.filter(isOwn)
    let elements = own.isEmpty ? elements : own
    guard elements.count >= Self.minElements else { return nil }
    var quarters = [0, 0, 0, 0]
    var types: [UInt32: Int] = [:]
    var bytes: UInt64 = 0
    for element in elements {
      let block = graph.heap[BlockID(element)]
      let part = lastOrdinal > 0 ? Double(min(block.ordinal, lastOrdinal)) / Double(lastOrdinal) : 0
      for quarter in quarters.indices where part <= Double(quarter + 1) / 4 { quarters[quarter] += 1 }
      types[graph.nodeTypes[Int(element)], default: 0] += 1
      bytes &+= block.size
    }
    let late = min(quarters[3] - quarters[2], lateGrowth(of: elements, from: 0, to: lastOrdinal))
    guard Double(late) >= Self.minLateShare * Double(elements.count) || grewForLong(elements),
      let type = types.max(by: { ($0.value, $1.key) < ($1.value, $0.key) })?.key
    else { return nil }
    return GrownCollection(
      holder: holder(), holders: holders, type: name ?? graph.types[Int(type)].name, elements: elements.count,
      bytes: ByteCount(bytes), quarters: quarters)
  }
}
