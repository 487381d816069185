// Finds the references that can resume suspended tasks.

import HeapAnalysis
import TraceSymbolication

/// Finds, for each task that waits for a continuation, the nearest holder of the continuation. For one thread at a
/// time.
///
/// A task's handle can await or cancel the task, but not resume it. So handles do not count.
final class ResumerSearch {
  /// The way from a root to a continuation.
  struct Way {
    /// The nearest object of the program on the way; the root if there is none.
    var owner: NodeID
    /// The reference of `owner` on the way; nil if `owner` is the root.
    var ownerEdge: EdgeIndex?
    var root: NodeID
    /// The node that `root` leads to.
    var first: NodeID
  }

  private let graph: ObjectGraph
  private let paths: RetainPaths
  /// The nearest reference to each task, by the task's node.
  private var nearest: [NodeID: (holder: NodeID, edge: EdgeIndex)] = [:]
  /// The nearest node with a reference to each inner task, by the task's address.
  private var nearestInner: [UInt64: (holder: NodeID, edge: EdgeIndex)] = [:]

  /// Maximum number of references from the owner to the holder.
  private static let ownerDistance = 16

  /// - Parameters:
  ///   - tasks: the nodes of tasks that wait for a continuation.
  ///   - inner: the addresses of such tasks among the frames of others. No edge of the graph leads to them.
  ///
  /// O(graph), and linear in the words of the nodes that refer to frames with inner tasks.
  init(_ graph: ObjectGraph, tasks: Set<NodeID>, inner: Set<UInt64>) {
    self.graph = graph
    let roots = graph.rootNodes
    let heap = graph.graph
    paths = RetainPaths(
      heap, roots: roots, rootCosts: roots.map { LeakAnalysis.rootCost(graph.root($0).kind) },
      kinds: ObjectGraph.owning,
      costs: LeakFinder.costs)
    guard !tasks.isEmpty || !inner.isEmpty else { return }
    // An edge to an inner task leads to the outer task, or to the slab that contains the inner task.
    let outer = Dictionary(grouping: inner) { graph.heap.block(containing: $0).map { task(of: $0.rawValue) } }
    for node in 0..<NodeID(heap.nodeCount) where paths.reaches(node) {
      for edge in heap.edges(from: node) where ObjectGraph.owning.contains(EdgeKinds(kind: heap.kind(of: edge))) {
        let target = heap.target(of: edge)
        let innerTasks = graph.isRoot(target) ? nil : outer[task(of: target)]
        guard tasks.contains(target) || innerTasks != nil, isOutside(node, of: target),
          !TaskHandles.isHandle(edge, in: graph)
        else { continue }
        if let innerTasks { note(node, edge, innerTasks) }
        if let known = nearest[target], paths.costs[known.holder] <= paths.costs[node] { continue }
        nearest[target] = (node, edge)
      }
    }
  }

  /// Notes a node with a reference to a block that contains inner tasks. The words of the node show which task it is.
  private func note(_ node: NodeID, _ edge: EdgeIndex, _ tasks: [UInt64]) {
    func check(_ word: UInt64) {
      let address = word & HeapImage.addressBits
      guard tasks.contains(address) else { return }
      if let known = nearestInner[address], paths.costs[known.holder] <= paths.costs[node] { return }
      nearestInner[address] = (node, edge)
    }
    if graph.isRoot(node) {
      let root = graph.root(node)
      root.values.forEach(check)
      for range in root.ranges { graph.image.forEachWord(in: range) { check($1) } }
    } else {
      let block = graph.heap[BlockID(node)]
      graph.image.forEachWord(in: block.address..<block.address &+ block.size) { check($1) }
    }
  }

  /// Returns whether a node is no part of a task's own memory.
  private func isOutside(_ node: NodeID, of task: NodeID) -> Bool {
    self.task(of: node) != self.task(of: task)
  }

  /// Returns the task of a slab; for other nodes, the node itself.
  private func task(of node: NodeID) -> NodeID { graph.taskOfSlab[node] ?? node }

  /// Returns the way to the continuation that a task waits for; nil if no reference leads to it.
  func way(to task: NodeID) -> Way? { nearest[task].map { way(over: $0.holder, $0.edge, to: task) } }

  /// Returns the way to the continuation that an inner task waits for; nil if no reference leads to it.
  func way(toInner address: UInt64) -> Way? {
    nearestInner[address].flatMap { found in
      graph.heap.block(containing: address).map { way(over: found.holder, found.edge, to: $0.rawValue) }
    }
  }

  private func way(over holder: NodeID, _ edge: EdgeIndex, to task: NodeID) -> Way {
    var way = Way(owner: holder, ownerEdge: edge, root: holder, first: task)
    var isOwned = isOwner(holder)
    var node = holder
    var distance = 0
    while paths.parents[node] != HeapGraph.noNode {
      let parent = paths.parents[node]
      if !isOwned, distance < Self.ownerDistance, isOwner(parent) {
        (way.owner, way.ownerEdge, isOwned) = (parent, paths.parentEdges[node], true)
      }
      way.first = node
      node = parent
      distance += 1
    }
    way.root = node
    if !isOwned { (way.owner, way.ownerEdge) = (node, nil) }
    return way
  }

  /// Returns whether a reader knows an object by its class. Closures, boxes and objects of the platform are parts of
  /// their owners.
  private func isOwner(_ node: NodeID) -> Bool {
    if graph.isRoot(node) { return false }
    let type = graph.type(of: node)
    return type.kind == .task
      || type.kind == .object && !SystemCode.isSystemModule(String(type.qualifiedName.prefix { $0 != "." }))
  }
}
