// The search for dominators.

/// Implements the algorithm of T. Lengauer and R. E. Tarjan, "A fast algorithm for finding dominators in a flowgraph",
/// TOPLAS 1 (1979).
///
/// This is the simple version: path compression without balancing, O(edges · log nodes) for any graph. Semi-NCA does
/// less work, but is quadratic for some graphs, and a hostile file could hold such a graph. Vertices are the numbers
/// that nodes get in a depth-first search. The super root has number 0.
enum DominatorSearch {
  /// One structure, since these fields are read together.
  private struct Vertex: BitwiseCopyable {
    /// The parent in the search tree. After the vertex is linked, path compression may replace the parent by a higher
    /// ancestor.
    var ancestor: UInt32
    /// The vertex with the lowest semidominator on the path from this vertex up to `ancestor`, without `ancestor`. The
    /// next field has that semidominator.
    var label: UInt32
    var labelSemidominator: UInt32
    var semidominator: UInt32
  }

  private struct Frame: BitwiseCopyable {
    var node: NodeID
    var number: UInt32
    var edge: UInt32
  }

  /// For each vertex, the sources of its incoming edges, without its parent in the search tree.
  private struct Predecessors {
    /// The index of each vertex's first predecessor in `numbers`. The predecessors end at the next vertex's index.
    let offsets: NodeTable<UInt32>
    let numbers: NodeTable<UInt32>
  }

  /// Returns the reached nodes in depth-first order, and for every node its immediate dominator or a marker value of
  /// `DominatorTree`.
  static func run(
    _ scope: GraphScope, roots: some Sequence<NodeID>, nodeCount: Int
  ) -> (order: NodeTable<NodeID>, immediateDominator: NodeTable<NodeID>) {
    let (order, vertices, predecessors) = prepare(scope, roots: roots, nodeCount: nodeCount)
    let dominators = solve(vertices, predecessors)
    let immediateDominator = NodeTable<NodeID>(repeating: DominatorTree.unreached, count: nodeCount)
    for index in 0..<order.count {
      let dominator = dominators.start[index + 1]
      immediateDominator.start[Int(order.start[index])] =
        dominator == 0 ? DominatorTree.superRoot : order.start[Int(dominator) - 1]
    }
    return (order, immediateDominator)
  }

  /// Numbers the nodes, and reverses their edges.
  private static func prepare(
    _ scope: GraphScope, roots: some Sequence<NodeID>, nodeCount: Int
  ) -> (order: NodeTable<NodeID>, vertices: NodeTable<Vertex>, predecessors: Predecessors) {
    /// The number of each node; 0 for nodes that are not reached.
    let numbers = NodeTable<UInt32>(repeating: 0, count: nodeCount)
    var order = GrowingStack<NodeID>()
    var parents = GrowingStack<UInt32>()
    var admittedRoots = GrowingStack<NodeID>()
    for root in roots where scope.admits(root) { admittedRoots.push(root) }
    number(scope, admittedRoots, numbers.start, &order, &parents)

    let count = order.count
    let vertices = NodeTable<Vertex>(uninitialized: count + 1)
    vertices.start[0] = Vertex(ancestor: 0, label: 0, labelSemidominator: 0, semidominator: 0)
    for index in 0..<count {
      let (parent, own) = (parents.start[index], UInt32(truncatingIfNeeded: index + 1))
      // The semidominator is at most the parent. The parent of a root is the super root, which has an edge to every
      // root; see below.
      vertices.start[index + 1] = Vertex(ancestor: parent, label: own, labelSemidominator: own, semidominator: parent)
    }
    for index in 0..<admittedRoots.count {
      vertices.start[Int(numbers.start[Int(admittedRoots.start[index])])].semidominator = 0
    }
    let predecessors = collectPredecessors(scope, order, parents, numbers.start)
    let orderTable = NodeTable<NodeID>(uninitialized: count)
    orderTable.start.update(from: order.start, count: count)
    return (orderTable, vertices, predecessors)
  }

  private static func number(
    _ scope: GraphScope, _ roots: borrowing GrowingStack<NodeID>, _ numbers: UnsafeMutablePointer<UInt32>,
    _ order: inout GrowingStack<NodeID>, _ parents: inout GrowingStack<UInt32>
  ) {
    var frames = GrowingStack<Frame>()
    for index in 0..<roots.count where numbers[Int(roots.start[index])] == 0 {
      var next = roots.start[index]
      var parent: UInt32 = 0
      while true {
        order.push(next)
        parents.push(parent)
        let number = UInt32(truncatingIfNeeded: order.count)
        numbers[Int(next)] = number
        frames.push(Frame(node: next, number: number, edge: scope.offsets[Int(next)]))
        next = HeapGraph.noNode
        while next == HeapGraph.noNode && !frames.isEmpty {
          let top = frames.start + (frames.count &- 1)
          var edge = Int(top.pointee.edge)
          let end = Int(scope.offsets[Int(top.pointee.node) &+ 1])
          while edge < end {
            let target = scope.targets[edge]
            if scope.follows(edge) && scope.contains(target) && numbers[Int(target)] == 0 {
              next = target
              break
            }
            edge &+= 1
          }
          if next == HeapGraph.noNode {
            _ = frames.pop()
          } else {
            top.pointee.edge = UInt32(truncatingIfNeeded: edge &+ 1)
            parent = top.pointee.number
          }
        }
        if next == HeapGraph.noNode { break }
      }
    }
  }

  private static func collectPredecessors(
    _ scope: GraphScope, _ order: borrowing GrowingStack<NodeID>, _ parents: borrowing GrowingStack<UInt32>,
    _ numbers: UnsafeMutablePointer<UInt32>
  ) -> Predecessors {
    let count = order.count
    let (order, parents) = (order.start, parents.start)
    let offsets = NodeTable<UInt32>(repeating: 0, count: count + 2)

    /// Calls `body` with the numbers of both ends of every edge, except edges from the target's parent and edges from a
    /// node to itself.
    @inline(__always)
    func forEachEdge(_ body: (_ source: UInt32, _ target: UInt32) -> Void) {
      for index in 0..<count {
        let source = UInt32(truncatingIfNeeded: index &+ 1)
        for edge in scope.edges(from: order[index]) where scope.follows(edge) {
          let node = scope.targets[edge]
          // If the target is in the scope, it is reached, since its source is. If not, it has no number.
          let target = numbers[Int(node)]
          if target != 0 && target != source && parents[Int(target) &- 1] != source { body(source, target) }
        }
      }
    }
    forEachEdge { _, target in offsets.start[Int(target)] &+= 1 }
    // Each offset is set to the end of its row. Rows are filled from the end, so the offset moves down to the row's
    // beginning.
    var end: UInt32 = 0
    for number in 0..<count + 2 {
      end += offsets.start[number]
      offsets.start[number] = end
    }
    let sources = NodeTable<UInt32>(uninitialized: Int(end))
    forEachEdge { source, target in
      let place = offsets.start[Int(target)] &- 1
      offsets.start[Int(target)] = place
      sources.start[Int(place)] = source
    }
    return Predecessors(offsets: offsets, numbers: sources)
  }

  /// Returns the immediate dominator of each vertex.
  private static func solve(_ table: NodeTable<Vertex>, _ predecessors: Predecessors) -> NodeTable<UInt32> {
    let vertices = table.start
    let dominators = NodeTable<UInt32>(repeating: 0, count: table.count)
    // For each semidominator, a list of the vertices that wait for it to be processed. 0 ends a list.
    let firstWaiting = NodeTable<UInt32>(repeating: 0, count: table.count)
    let nextWaiting = NodeTable<UInt32>(repeating: 0, count: table.count)
    let (offsets, sources) = (predecessors.offsets.start, predecessors.numbers.start)
    var path = GrowingStack<UInt32>()

    var current = UInt32(truncatingIfNeeded: table.count - 1)
    while current > 0 {
      // All vertices above `current` are linked to their ancestors.
      var waiting = firstWaiting.start[Int(current)]
      while waiting != 0 {
        compress(waiting, current, vertices, &path)
        let best = vertices[Int(waiting)]
        // This is the dominator, or a lower vertex with the same dominator. The last loop resolves the second case.
        dominators.start[Int(waiting)] = best.labelSemidominator < current ? best.label : current
        waiting = nextWaiting.start[Int(waiting)]
      }

      var lowest = vertices[Int(current)].semidominator
      for place in Int(offsets[Int(current)])..<Int(offsets[Int(current) &+ 1]) {
        let source = sources[place]
        if source < current {
          if source < lowest { lowest = source }
        } else {
          compress(source, current, vertices, &path)
          let candidate = vertices[Int(source)].labelSemidominator
          if candidate < lowest { lowest = candidate }
        }
      }
      vertices[Int(current)].semidominator = lowest
      vertices[Int(current)].labelSemidominator = lowest
      if lowest == 0 || lowest == vertices[Int(current)].ancestor {
        dominators.start[Int(current)] = lowest
      } else {
        nextWaiting.start[Int(current)] = firstWaiting.start[Int(lowest)]
        firstWaiting.start[Int(lowest)] = current
      }
      current &-= 1
    }

    for number in 1..<max(1, table.count) where dominators.start[number] != vertices[number].semidominator {
      dominators.start[number] = dominators.start[Int(dominators.start[number])]
    }
    withExtendedLifetime((table, predecessors)) {}
    return dominators
  }

  /// Sets the label of a linked vertex to the label of its whole path up to the first unlinked vertex. The vertices up
  /// to number `current` are unlinked.
  @inline(__always)
  private static func compress(
    _ vertex: UInt32, _ current: UInt32, _ vertices: UnsafeMutablePointer<Vertex>, _ path: inout GrowingStack<UInt32>
  ) {
    if vertices[Int(vertex)].ancestor > current { compressPath(vertex, current, vertices, &path) }
  }

  private static func compressPath(
    _ vertex: UInt32, _ current: UInt32, _ vertices: UnsafeMutablePointer<Vertex>, _ path: inout GrowingStack<UInt32>
  ) {
    var top = vertex
    while vertices[Int(top)].ancestor > current {
      path.push(top)
      top = vertices[Int(top)].ancestor
    }
    var above = vertices[Int(top)]
    while !path.isEmpty {
      let below = vertices + Int(path.pop())
      if above.labelSemidominator < below.pointee.labelSemidominator {
        below.pointee.label = above.label
        below.pointee.labelSemidominator = above.labelSemidominator
      }
      below.pointee.ancestor = above.ancestor
      above = below.pointee
    }
  }
}
