// What ways to objects have in common.

/// Tells which paths are alike: the same kind of root, then the same fields of the same types.
///
/// Where words in memory that nothing is known of lead from one block to the next, as in a library's list, how often they do is left out: what hangs from the fortieth block
/// is held as what hangs from the second. Links that are fields have names, and each is a step of its own.
///
/// Each node's shape is that of its parent and a step: paths may be as long as there are nodes, and so may the list of targets. For one thread at a time.
final class PathShapes {
  /// Equal for alike paths among those it was made with.
  struct Way: Hashable {
    fileprivate var state: Int32
  }

  private struct Step: Hashable {
    var before: Int32
    /// The reference and the type that it leads to, or the root's kind.
    var reference: UInt64
  }

  /// A step of a shape: what comes before it, and itself.
  private struct State {
    var before: Int32
    var reference: UInt64
  }

  private let graph: ObjectGraph
  private let paths: RetainPaths
  private var known: [NodeID: Int32] = [:]
  private var states: [State] = []
  private var numbers: [Step: Int32] = [:]

  /// Steps back that a part which comes again is looked for.
  private static let longestPeriod = 16
  /// A path that begins at a root is no step of another's middle.
  private static let root: UInt64 = 1 << 63

  private static func isScanned(_ reference: UInt64) -> Bool { reference & root == 0 && reference >> 31 == 1 << 31 }

  init(_ graph: ObjectGraph, _ paths: RetainPaths) { (self.graph, self.paths) = (graph, paths) }

  /// The way to a node that the paths reach. O(the part of its path that is not known yet).
  func way(to node: NodeID) -> Way {
    var pending: [NodeID] = []
    var current = node
    while known[current] == nil, paths.parents[current] != HeapGraph.noNode {
      pending.append(current)
      current = paths.parents[current]
    }
    let isRoot = graph.isRoot(current)
    var state = known[current] ?? self.state(after: -1, Self.root | (isRoot ? LeakAnalysis.rootKey(graph.root(current).kind) : UInt64(graph.nodeTypes[Int(current)]) << 32))
    known[current] = state
    for next in pending.reversed() {
      let label = graph.graph.label(of: paths.parentEdges[next])
      // Offsets in memory that is scanned differ between equal things.
      state = self.state(after: state, UInt64(min(label, 1 << 31)) << 31 | UInt64(graph.nodeTypes[Int(next)]))
      known[next] = state
    }
    return Way(state: state)
  }

  private func state(after before: Int32, _ reference: UInt64) -> Int32 {
    if Self.isScanned(reference) {
      var earlier = before
      for _ in 0..<Self.longestPeriod where earlier >= 0 {
        let state = states[Int(earlier)]
        if state.reference == reference { return earlier }
        guard Self.isScanned(state.reference) else { break }
        earlier = state.before
      }
    }
    let step = Step(before: before, reference: reference)
    if let number = numbers[step] { return number }
    let number = Int32(truncatingIfNeeded: states.count)
    states.append(State(before: before, reference: reference))
    numbers[step] = number
    return number
  }
}
