// Words that look like references, but cannot be references.

/// Finds scanned words that keep nothing, by the reference counts of their targets.
///
/// Frames of tasks, and memory of unknown layout, have words left over from earlier uses. Such a word may connect
/// objects that were lost for separate reasons. Among a hundred leaked sessions, some would then seem to keep others,
/// at random.
///
/// An object's reference count is the number of its references. If the known fields account for all of these
/// references, no scanned word is a reference. If there are more scanned words than remaining references, words in
/// blocks that the object itself keeps alive count first, since they may close a cycle.
///
/// The words that do not count become edges of the kind `surplus`. Objects that a root reaches over such an edge are
/// still in use, since a function may use an object without a counted reference.
struct SurplusWords {
  private let graph: HeapGraph
  private let heap: LiveHeap
  private let image: HeapImage
  private let taskOfSlab: [UInt32: UInt32]
  /// Returns whether a node's fields keep their targets alive.
  private let isHolder: (NodeID) -> Bool
  /// Returns whether the runtime counts all references to a node.
  private let isCounted: (NodeID) -> Bool

  /// The number of scanned words that lead to each node.
  private let guesses: NodeCounts
  /// The number of references in known fields to each node. Only the targets of scanned words are counted.
  private let held: NodeCounts
  /// Nodes with more incoming scanned words than their reference counts allow, after the references in known fields.
  private let open: NodeSet

  /// Maximum number of nodes in an island of lost objects; few islands are larger. In a larger island, all scanned
  /// words count as references.
  private static let islandLimit = 4096
  /// Maximum number of edges that are followed for all islands together.
  private static let stepLimit = 1 << 22

  init(
    _ graph: HeapGraph, heap: LiveHeap, image: HeapImage, taskOfSlab: [UInt32: UInt32],
    isHolder: @escaping (NodeID) -> Bool, isCounted: @escaping (NodeID) -> Bool
  ) {
    (self.graph, self.heap, self.image, self.taskOfSlab, self.isHolder, self.isCounted) = (
      graph, heap, image, taskOfSlab, isHolder, isCounted
    )
    guesses = NodeCounts(count: graph.nodeCount)
    held = NodeCounts(count: graph.nodeCount)
    open = NodeSet(bound: graph.nodeCount)
  }

  /// Marks the surplus words. Call this before the graph is shared. O(nodes + edges), and a bounded search for each
  /// node with too many scanned words. Working memory: up to 2 bytes a node.
  func mark(roots: some Sequence<NodeID>) {
    countGuesses()
    countHeld()
    let full = NodeSet(bound: graph.nodeCount)
    for node in 0..<NodeID(heap.count) where guesses[node] > 0 && isCounted(node) {
      guard let room = room(of: node) else { continue }
      if room == 0 { full.insert(node) } else if guesses[node] > room { open.insert(node) }
    }
    if !full.isEmpty {
      for edge in 0..<graph.edgeCount
      where graph.kinds.start[edge] == Self.guess && full.contains(graph.targets.start[edge]) {
        graph.kinds.start[edge] = Self.surplus
      }
    }
    if !open.isEmpty { settle(within: graph.reachable(from: roots, kinds: ObjectGraph.owning).complement) }
  }

  private static let guess = EdgeStrength.conservative.rawValue
  private static let exact = EdgeStrength.strong.rawValue
  private static let surplus = EdgeStrength.surplus.rawValue

  /// Returns how many references a node has besides those in known fields; nil if its count cannot be read.
  private func room(of node: NodeID) -> UInt32? {
    Self.room(besides: held[node], at: heap[BlockID(node)].address, in: image)
  }

  /// Returns how many references an object has besides `known` ones; nil if its count cannot be read.
  static func room(besides known: UInt32, at address: UInt64, in image: HeapImage) -> UInt32? {
    guard let count = ObjectGraph.referenceCount(of: address, in: image), !count.isImmortal, !count.isDeiniting else {
      return nil
    }
    return count.strong > known ? count.strong - known : 0
  }

  /// Counts the scanned words that lead to each node. A task alone owns the memory of its frames, so a word elsewhere
  /// that leads there is surplus.
  private func countGuesses() {
    for node in 0..<NodeID(graph.nodeCount) {
      for edge in graph.edges(from: node) where graph.kind(of: edge) == Self.guess {
        let target = graph.target(of: edge)
        if !taskOfSlab.isEmpty, Int(node) < heap.count, let task = taskOfSlab[target], task != node,
          taskOfSlab[node] != task
        {
          graph.kinds.start[Int(edge)] = Self.surplus
        } else {
          guesses.increment(target)
        }
      }
    }
  }

  private func countHeld() {
    for node in 0..<NodeID(graph.nodeCount) {
      var holds: Bool?
      for edge in graph.edges(from: node) where graph.kind(of: edge) == Self.exact {
        let target = graph.target(of: edge)
        if guesses[target] == 0 { continue }
        if holds == nil { holds = isHolder(node) }
        if holds == true { held.increment(target) }
      }
    }
  }

  /// Marks surplus words among unreachable nodes.
  private func settle(within unreachable: NodeSet) {
    var words: [NodeID: [(edge: EdgeIndex, source: NodeID)]] = [:]
    unreachable.forEach { node in
      for edge in graph.edges(from: node)
      where graph.kind(of: edge) == Self.guess && open.contains(graph.target(of: edge)) {
        words[graph.target(of: edge), default: []].append((edge, node))
      }
    }
    var steps = 0
    for (node, words) in words.sorted(by: { $0.key < $1.key }) {
      guard steps < Self.stepLimit, let island = island(of: node, &steps), let room = room(of: node) else { continue }
      guard words.count(where: { island.contains($0.source) }) >= Int(room) else { continue }
      for word in words where !island.contains(word.source) { graph.kinds.start[Int(word.edge)] = Self.surplus }
    }
  }

  /// Returns the nodes that a node certainly keeps alive; nil if there are too many.
  private func island(of node: NodeID, _ steps: inout Int) -> Set<NodeID>? {
    var island: Set<NodeID> = [node]
    var pending = [node]
    while let next = pending.popLast() {
      for edge in graph.edges(from: next) where ObjectGraph.keeping.contains(EdgeKinds(kind: graph.kind(of: edge))) {
        let target = graph.target(of: edge)
        steps += 1
        if graph.kind(of: edge) == Self.guess, open.contains(target) { continue }
        guard island.insert(target).inserted else { continue }
        if island.count > Self.islandLimit { return nil }
        pending.append(target)
      }
    }
    return island
  }
}
