// Recognises the shapes of paths to objects.

import HeapAnalysis

/// Recognises paths of one shape: the same kind of root, then the same fields of the same types.
///
/// Repeated parts of a path count once. So the last object of a list, the leaves of a tree and the objects that they
/// hold have the shape of the nodes near the head. A part repeats in these cases:
///
/// - The path comes to a class by a reference that it took before.
/// - The path comes to a class directly from another object of that class.
/// - Scanned words lead from one block of unknown layout to the next, as in a library's list.
/// - A named part of a value leads to a type as before.
///
/// The shape of a node is its parent's shape plus one step. This matters, since a path may have as many steps as there
/// are nodes, and there may be as many targets. For one thread at a time.
final class PathShapes {
  /// Equal for paths of one shape. Only ways of one `PathShapes` can be compared.
  struct Way: Hashable {
    fileprivate var state: Int32
  }

  private struct Step: Hashable {
    var before: Int32
    /// The reference and the type that it leads to, or the root's kind.
    var reference: UInt64
  }

  /// A step of a shape, and the state before it.
  private struct State {
    var before: Int32
    var reference: UInt64
    var type: UInt32
  }

  private let graph: ObjectGraph
  private let paths: RetainPaths
  private var known: [NodeID: (state: Int32, length: UInt32)] = [:]
  private var states: [State] = []
  private var numbers: [Step: Int32] = [:]

  /// Maximum number of steps back that are searched for a repeated part.
  private static let longestPeriod = 16
  /// Marks the first step of a path, so that a path that begins at a root never continues another path.
  private static let root: UInt64 = 1 << 63
  /// Marks a reference from one object of a class to another object of the same class, by any field. No label has this
  /// number.
  private static let link: UInt64 = 3 << 61

  private static func isScanned(_ reference: UInt64) -> Bool { reference & root == 0 && reference >> 31 == 1 << 31 }

  init(_ graph: ObjectGraph, _ paths: RetainPaths) { (self.graph, self.paths) = (graph, paths) }

  /// Returns the way to a node that the paths reach. O(the part of its path that was not examined before).
  func way(to node: NodeID) -> Way { Way(state: reach(node).state) }

  /// Returns the number of blocks on the path to a node that the paths reach, including the node's own block.
  func length(to node: NodeID) -> UInt32 { reach(node).length }

  /// Returns the way to the first object in a row of objects of one class; nil if the objects are in no such row.
  func head(of way: Way) -> Way? {
    guard states.indices.contains(Int(way.state)) else { return nil }
    let type = states[Int(way.state)].type
    var earlier = states[Int(way.state)].before
    var head: Way?
    for _ in 0..<Self.longestPeriod where earlier >= 0 {
      if states[Int(earlier)].type == type { head = Way(state: earlier) }
      earlier = states[Int(earlier)].before
    }
    return head
  }

  /// Returns the first node that is held in a given way, on the path to another node. Nil if there is none, or if the
  /// path has more than `spareSteps` steps. O(length of the path).
  func first(heldIn way: Way, onPathTo node: NodeID, spareSteps: inout Int) -> NodeID? {
    var first: NodeID?
    var current = node
    while true {
      spareSteps -= 1
      guard spareSteps >= 0 else { return nil }
      if known[current]?.state == way.state { first = current }
      let parent = paths.parents[current]
      guard parent != HeapGraph.noNode else { return first }
      current = parent
    }
  }

  private func reach(_ node: NodeID) -> (state: Int32, length: UInt32) {
    if let known = known[node] { return known }
    var pending: [NodeID] = []
    var current = node
    while known[current] == nil, paths.parents[current] != HeapGraph.noNode {
      pending.append(current)
      current = paths.parents[current]
    }
    var reached = known[current] ?? begin(at: current)
    known[current] = reached
    for next in pending.reversed() {
      let label = graph.graph.label(of: paths.parentEdges[next])
      reached = (step(after: reached.state, from: paths.parents[next], to: next, label), reached.length &+ 1)
      known[next] = reached
    }
    return reached
  }

  private func begin(at node: NodeID) -> (state: Int32, length: UInt32) {
    guard graph.isRoot(node) else {
      let type = graph.nodeTypes[Int(node)]
      return (number(of: Step(before: -1, reference: Self.root | UInt64(type) << 32), type: type), 1)
    }
    return (
      number(of: Step(before: -1, reference: Self.root | LeakAnalysis.rootKey(graph.root(node).kind)), type: .max), 0
    )
  }

  private func step(after before: Int32, from parent: NodeID, to node: NodeID, _ label: UInt32) -> Int32 {
    let type = graph.nodeTypes[Int(node)]
    let isObject = graph.type(of: node).kind == .object
    // In scanned memory, the offsets of references differ between equal objects.
    var reference = UInt64(min(label, 1 << 31)) << 31 | UInt64(type)
    if isObject, !graph.isRoot(parent), graph.nodeTypes[Int(parent)] == type { reference = Self.link | UInt64(type) }
    if Self.isScanned(reference) {
      if let earlier = earlier(reference, before, while: Self.isScanned) { return earlier }
    } else if isObject || !(graph.label(label)?.name.isEmpty ?? true) {
      if let earlier = earlier(reference, before, while: { _ in true }) { return earlier }
    }
    return number(of: Step(before: before, reference: reference), type: type)
  }

  /// Returns the last earlier state that an equal step led to. Nil unless all steps since then satisfy `isOfKind`.
  private func earlier(_ reference: UInt64, _ before: Int32, while isOfKind: (UInt64) -> Bool) -> Int32? {
    var earlier = before
    for _ in 0..<Self.longestPeriod where earlier >= 0 {
      let state = states[Int(earlier)]
      if state.reference == reference { return earlier }
      guard isOfKind(state.reference) else { return nil }
      earlier = state.before
    }
    return nil
  }

  private func number(of step: Step, type: UInt32) -> Int32 {
    if let number = numbers[step] { return number }
    let number = Int32(truncatingIfNeeded: states.count)
    states.append(State(before: step.before, reference: step.reference, type: type))
    numbers[step] = number
    return number
  }
}
