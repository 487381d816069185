// Measures the graph algorithms on a synthetic heap.
// Usage: graph-algorithms NODES ordered|shuffled
//
// There are three edges per node on average: one from its parent in a tree, one to a node near by, and one to any node.
// A node of the tree has up to four children. The other two edges lead to later places, except for one in a hundred. So
// there are cycles of all sizes. With `ordered`, numbers are like addresses of an allocator: neighbours in the tree
// have near numbers. With `shuffled`, related nodes have distant numbers, the worst case for the processor's caches.

import HeapAnalysis
import PhaseMeter

struct RandomNumbers {
  private var state: UInt64 = 0x1234_5678_9ABC_DEF1
  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}

/// Adds the edges of the synthetic heap. A place is the position of a node in the ordered heap.
struct EdgeMaker {
  let count: Int
  /// The node at each place; nil if a node's number is its place.
  let nodes: [UInt32]?
  var random = RandomNumbers()

  @inline(__always)
  func node(_ place: Int) -> UInt32 { nodes.map { $0[place] } ?? UInt32(truncatingIfNeeded: place) }

  /// Adds the edges of the node at a place. The nodes of a subtree are in a run of 1024 places, as in a program that
  /// builds one structure after another.
  mutating func addEdges(of place: Int, to builder: HeapGraphBuilder) {
    let source = node(place)
    let run = 1024
    let offset = place % run
    let begin = place - offset
    for child in 1...4 {
      let target = offset * 4 + child
      if target < run && begin + target < count { builder.addEdge(from: source, to: node(begin + target), kind: 0) }
    }
    // The parent of a run's first node is the first node of an earlier run.
    if offset == 0 {
      let index = place / run
      for child in 1...4 where (index * 4 + child) * run < count {
        builder.addEdge(from: source, to: node((index * 4 + child) * run), kind: 0)
      }
    }
    let near = random.below(256) + 1
    let isBackward = random.below(100) == 0
    let neighbour = isBackward ? place - near : place + near
    if neighbour >= 0 && neighbour < count { builder.addEdge(from: source, to: node(neighbour), label: 1, kind: 0) }
    let any = random.below(100) == 0 ? random.below(count) : place + random.below(count - place)
    builder.addEdge(from: source, to: node(any), label: 2, kind: 1)
  }
}

func shuffled(_ count: Int) -> [UInt32] {
  var random = RandomNumbers()
  var result = (0..<UInt32(count)).map { $0 }
  for index in stride(from: count - 1, to: 0, by: -1) { result.swapAt(index, random.below(index + 1)) }
  return result
}

func run(_ count: Int, isShuffled: Bool) {
  let nodes = isShuffled ? shuffled(count) : nil
  let graph = PhaseMeter.measure("build") {
    let builder = HeapGraphBuilder(nodeCount: count)
    var maker = EdgeMaker(count: count, nodes: nodes)
    for place in 0..<count { maker.addEdges(of: place, to: builder) }
    return builder.build()
  }
  PhaseMeter.note("nodes", graph.nodeCount)
  PhaseMeter.note("edges", graph.edgeCount)
  let root = nodes?[0] ?? 0
  PhaseMeter.note("reached", PhaseMeter.measure("reachable") { graph.reachable(from: [root]) }.count)
  PhaseMeter.measure("components") {
    let components = StronglyConnectedComponents(graph)
    PhaseMeter.note("components", components.count)
    PhaseMeter.note("largest component", components.sizes.all.max().map { Int($0) } ?? 0)
    let members = ComponentMembers(components)
    PhaseMeter.note("sources", components.sources().count)
    withExtendedLifetime(members) {}
  }
  let dominators = PhaseMeter.measure("dominators") { DominatorTree(graph, roots: [root]) }
  let sizes = [UInt64](repeating: 100, count: count)
  let retained = PhaseMeter.measure("retained sizes") { dominators.retainedSizes(sizes) }
  PhaseMeter.note("retained by the root", Int(retained[root]))
  PhaseMeter.measure("retain paths") {
    var costs = EdgeCosts(default: 2)
    costs[1] = 9
    let paths = RetainPaths(graph, roots: [root], costs: costs)
    PhaseMeter.note("highest cost", Int(paths.costs.all.max() ?? 0))
  }
}

let arguments = CommandLine.arguments
run(Int(arguments[1])!, isShuffled: arguments[2] == "shuffled")
