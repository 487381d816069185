// Finds the connections that peers opened and that are still open.

import HeapAnalysis
import PlatformRules

/// The open connections of a server. A peer decides how long its connection lasts, so a server that ends by a signal
/// still has some. Each of them keeps its handlers, its tasks, and the objects that the program made for it.
///
/// A library registers each open connection. A connection that the program opened itself does not count, because the
/// program must close it. Only the connections of a listening socket refer to this socket.
///
/// For one thread at a time.
final class OpenConnections {
  private static let registries = RuleBook.shipped.table(.connections, by: .type)
  private static let listeners = RuleBook.shipped.table(.listener, by: .type)

  private let graph: ObjectGraph
  /// The objects that connections have in common: listening sockets, registries, and the objects that refer to registries.
  private let shared: Set<NodeID>
  /// The connections.
  let all: Set<NodeID>

  /// Maximum number of references from an object of the program to its connection, and of nodes at one distance.
  private static let distance = 4
  private static let breadth = 256

  /// Linear in the blocks. Linear in the graph if there is a connection.
  init(_ graph: ObjectGraph) {
    self.graph = graph
    /// Returns the nodes of the types that a table names.
    func nodes(of table: RuleTable) -> [NodeID] {
      let matches = graph.types.map { $0.kind == .object && table.matches($0.qualifiedName) }
      guard matches.contains(true) else { return [] }
      return (0..<NodeID(graph.blockCount)).filter { matches[Int(graph.nodeTypes[Int($0)])] }
    }
    let heap = graph.graph
    let registries = nodes(of: Self.registries)
    guard !registries.isEmpty else {
      (shared, all) = ([], [])
      return
    }
    let listeners = Set(nodes(of: Self.listeners))
    let isRegistry = Set(registries)
    var shared = isRegistry.union(listeners)
    var all: Set<NodeID> = []
    for registry in registries {
      let fields = heap.edges(from: registry).map(heap.target(of:)).filter { !graph.isRoot($0) }
      for table in fields where graph.type(of: table).kind.isCollection {
        all.formUnion(
          heap.edges(from: table).lazy.map(heap.target(of:)).filter { connection in
            !graph.isRoot(connection)
              && heap.edges(from: connection).contains { listeners.contains(heap.target(of: $0)) }
          })
      }
    }
    if !all.isEmpty {
      for node in 0..<NodeID(graph.blockCount) where graph.type(of: node).kind == .object && !all.contains(node) {
        if heap.edges(from: node).contains(where: { isRegistry.contains(heap.target(of: $0)) }) { shared.insert(node) }
      }
    }
    (self.shared, self.all) = (shared, all)
  }

  /// The cheapest paths from the connections. None leads through nodes that connections have in common, or from a task
  /// to other tasks.
  private lazy var paths: RetainPaths = {
    let own = NodeSet(bound: graph.graph.nodeCount)
    for node in 0..<NodeID(graph.blockCount) where !shared.contains(node) { own.insert(node) }
    return RetainPaths(
      graph.graph, roots: all.sorted(), kinds: ObjectGraph.keeping, costs: LeakFinder.costs, within: own)
  }()

  /// Returns the nearest connection that leads to a node; nil if there is none. Linear in the path.
  private func nearest(to node: NodeID) -> NodeID? {
    guard paths.reaches(node) else { return nil }
    var current = node
    while paths.parents[current] != HeapGraph.noNode { current = paths.parents[current] }
    return current
  }

  /// The nodes that a node keeps, without those that all connections have in common.
  private func targets(of node: NodeID) -> [NodeID] {
    graph.owned(by: node).filter { !shared.contains($0) }
  }

  /// Returns the nearest connection that a node leads to; nil if there is none nearby.
  private func own(of node: NodeID) -> NodeID? {
    var seen: Set<NodeID> = [node]
    var layer = [node]
    for _ in 0..<Self.distance where layer.count <= Self.breadth {
      if let found = layer.first(where: all.contains) { return found }
      layer = layer.flatMap(targets).filter { seen.insert($0).inserted }
    }
    return layer.first(where: all.contains)
  }

  /// Returns nodes by the open connection that each belongs to: the nearest one that leads to the node, or that the
  /// node leads to. Takes whichever way tells more connections apart. Nodes without a connection are left out.
  /// - Parameter task: returns the task that keeps a node. If no connection leads to the node, the task may lead to one.
  func groups(of nodes: [NodeID], keptBy task: (NodeID) -> NodeID?) -> [[NodeID]] {
    guard !all.isEmpty else { return [] }
    func groups(_ connection: (NodeID) -> NodeID?) -> [NodeID: [NodeID]] {
      var groups: [NodeID: [NodeID]] = [:]
      for node in nodes { if let connection = connection(node) { groups[connection, default: []].append(node) } }
      return groups
    }
    let (kept, keeping) = (groups { nearest(to: $0) ?? task($0).flatMap(own) }, groups(own))
    return (kept.count >= keeping.count ? kept : keeping).sorted { $0.key < $1.key }.map(\.value)
  }
}
