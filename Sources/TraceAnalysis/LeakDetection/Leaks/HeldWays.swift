// The ways in which chosen objects are held.

import HeapAnalysis

/// Sorts objects by how they are held: a way has the objects whose paths have one shape, and a chain of objects of one
/// class with its head is one way.
struct HeldWays {
  struct Way {
    var isLeaked: Bool
    var targets: [NodeID]
    /// The nearest of them; of equally near ones the first that was made.
    var shown: NodeID
    fileprivate var cost: UInt32
    fileprivate var birth: BirthOrder
    /// Blocks on the path to the farthest.
    var longest: UInt32
    /// Bytes that would go if all of them went.
    var retained: UInt64 = 0
  }

  private struct Shape: Hashable {
    var isLeaked: Bool
    var way: PathShapes.Way
  }

  private let reachable: PathShapes
  private let leaked: PathShapes?
  private var numbers: [Shape: Int] = [:]
  /// In the order in which they were met; empty ones are parts of others.
  private var ways: [Way] = []

  /// `leaked`: shapes of the paths to what no root reaches.
  init(reachable: PathShapes, leaked: PathShapes?) { (self.reachable, self.leaked) = (reachable, leaked) }

  /// Takes in an object that is reached by paths of its kind. `birth`: when it was made.
  mutating func add(_ target: NodeID, isLeaked: Bool, cost: UInt32, birth: BirthOrder) {
    guard let shapes = isLeaked ? leaked : reachable else { return }
    let length = shapes.length(to: target)
    let shape = Shape(isLeaked: isLeaked, way: shapes.way(to: target))
    guard let number = numbers[shape] else {
      numbers[shape] = ways.count
      ways.append(Way(isLeaked: isLeaked, targets: [target], shown: target, cost: cost, birth: birth, longest: length))
      return
    }
    ways[number].targets.append(target)
    ways[number].longest = max(ways[number].longest, length)
    if (cost, birth) < (ways[number].cost, ways[number].birth) {
      (ways[number].shown, ways[number].cost, ways[number].birth) = (target, cost, birth)
    }
  }

  /// The heads of chains are held with the chains, where a way has no other objects than heads. Linear in the ways and
  /// in the paths to the objects that are shown.
  mutating func joinChains() {
    /// By number of the heads' way: each head, and the way of its chain.
    var chains: [Int: [NodeID: Int]] = [:]
    var spareSteps = Self.headSteps
    for (shape, number) in numbers.sorted(by: { $0.value < $1.value }) {
      guard let shapes = shape.isLeaked ? leaked : reachable, let heads = shapes.head(of: shape.way),
        let first = numbers[Shape(isLeaked: shape.isLeaked, way: heads)], first != number,
        let head = shapes.first(heldIn: heads, onPathTo: ways[number].shown, spareSteps: &spareSteps),
        chains[first]?[head] == nil
      else { continue }
      chains[first, default: [:]][head] = number
    }
    for (number, chains) in chains.sorted(by: { $0.key < $1.key })
    where ways[number].targets.allSatisfy({ chains[$0] != nil }) {
      for head in ways[number].targets { if let chain = chains[head] { ways[chain].targets.append(head) } }
      ways[number].targets = []
    }
  }

  /// Steps of paths in all that heads are looked for in: well below a second.
  private static let headSteps = 1 << 22

  /// Sums up what each way's objects retain. Memory that one of them keeps by another is counted once. Linear in the
  /// nodes, but for `hops` a target.
  mutating func add(retained: NodeTable<UInt64>, _ dominators: DominatorTree) {
    let none = Int32(-1)
    var wayOf = [Int32](repeating: none, count: retained.count)
    for (number, way) in ways.enumerated() {
      for target in way.targets { wayOf[Int(target)] = Int32(truncatingIfNeeded: number) }
    }
    /// The nearest dominator that is asked about.
    var above = [NodeID](repeating: HeapGraph.noNode, count: retained.count)
    for index in 0..<dominators.order.count {
      let node = Int(dominators.order[NodeID(index)])
      let dominator = dominators.immediateDominator[NodeID(node)]
      guard dominator < DominatorTree.superRoot else { continue }
      above[node] = wayOf[Int(dominator)] == none ? above[Int(dominator)] : dominator
    }
    for (number, way) in ways.enumerated() {
      for target in way.targets where !isBelow(target, Int32(truncatingIfNeeded: number), wayOf, above) {
        let (sum, overflow) = ways[number].retained.addingReportingOverflow(retained[target])
        ways[number].retained = overflow ? .max : sum
      }
    }
  }

  /// Objects of other ways between two of one way, at most, that are looked through.
  private static let hops = 64

  private func isBelow(_ target: NodeID, _ way: Int32, _ wayOf: [Int32], _ above: [NodeID]) -> Bool {
    var current = above[Int(target)]
    for _ in 0..<Self.hops where current != HeapGraph.noNode {
      if wayOf[Int(current)] == way { return true }
      current = above[Int(current)]
    }
    return false
  }

  /// Those with most objects first; of equal ones the nearest.
  func sorted() -> [Way] {
    ways.filter { !$0.targets.isEmpty }.enumerated().sorted {
      ($1.element.targets.count, $0.element.cost, $0.offset) < ($0.element.targets.count, $1.element.cost, $1.offset)
    }.map(\.element)
  }
}
