// The ways that chosen objects are kept alive.

import HeapAnalysis

/// Groups objects by the shape of their paths. Objects whose paths have the same shape are held in the same way. A
/// chain of objects of one class, including its head, counts as one way.
struct HeldWays {
  struct Way {
    var isLeaked: Bool
    var targets: [NodeID]
    /// The nearest target. If several are equally near, the oldest of them.
    var shown: NodeID
    fileprivate var cost: UInt32
    fileprivate var birth: BirthOrder
    /// The number of blocks on the path to the farthest target.
    var longest: UInt32
    /// The bytes that would be freed with all targets.
    var retained: UInt64 = 0
  }

  private struct Shape: Hashable {
    var isLeaked: Bool
    var way: PathShapes.Way
  }

  private let reachable: PathShapes
  private let leaked: PathShapes?
  private var numbers: [Shape: Int] = [:]
  /// In order of first occurrence. A way that was joined to another is empty.
  private var ways: [Way] = []

  /// `leaked`: shapes of the paths to unreachable objects.
  init(reachable: PathShapes, leaked: PathShapes?) { (self.reachable, self.leaked) = (reachable, leaked) }

  /// Adds an object with a path in `leaked` or in `reachable`. `birth`: the time of its allocation.
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

  /// Joins each way that consists only of heads of chains to those chains. Linear in the ways and in the paths to the
  /// shown objects.
  mutating func joinChains() {
    /// By number of the heads' way: each head, and the number of its chain's way.
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

  /// Maximum number of path steps that are searched for heads, for all ways together. The search takes well below a
  /// second.
  private static let headSteps = 1 << 22

  /// Sums up the memory that the objects of each way retain. If one object of a way keeps another, their memory is
  /// counted once. Linear in the nodes, plus `hops` for each target.
  mutating func add(retained: NodeTable<UInt64>, _ dominators: DominatorTree) {
    let none = Int32(-1)
    var wayOf = [Int32](repeating: none, count: retained.count)
    for (number, way) in ways.enumerated() {
      for target in way.targets { wayOf[Int(target)] = Int32(truncatingIfNeeded: number) }
    }
    /// The nearest dominator of each node that belongs to a way.
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

  /// Maximum number of other ways' objects that are visited between two objects of one way.
  private static let hops = 64

  private func isBelow(_ target: NodeID, _ way: Int32, _ wayOf: [Int32], _ above: [NodeID]) -> Bool {
    var current = above[Int(target)]
    for _ in 0..<Self.hops where current != HeapGraph.noNode {
      if wayOf[Int(current)] == way { return true }
      current = above[Int(current)]
    }
    return false
  }

  /// Returns the ways in descending order of objects. Among ways with equally many objects, the nearest comes first.
  func sorted() -> [Way] {
    ways.filter { !$0.targets.isEmpty }.enumerated().sorted {
      ($1.element.targets.count, $0.element.cost, $0.offset) < ($0.element.targets.count, $1.element.cost, $1.offset)
    }.map(\.element)
  }
}
