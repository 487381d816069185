// Nodes in the order of their cost.

/// A queue for shortest paths where edges cost 0 to 255. It has a ring of lists, one for each possible difference of
/// costs (R. B. Dial, CACM 12 (1969)). First in, first out among equal costs, so that results depend only on the graph.
/// The reader must skip entries whose node has since been given a lower cost. Memory: 4 bytes an entry.
struct CostQueue: ~Copyable {
  private let lists: UnsafeMutablePointer<GrowingStack<NodeID>>
  private let mask: Int
  /// The number of entries of the current list that have been taken.
  private var taken = 0
  private var remaining = 0
  /// The cost of the entry last taken; no lower one can be added.
  private(set) var cost: UInt32 = 0

  /// For edges, and first entries, of at most this cost.
  init(highestCost: UInt8) {
    var count = 2
    while count < Int(highestCost) + 1 { count *= 2 }
    mask = count - 1
    lists = .allocate(capacity: count)
    for index in 0..<count { (lists + index).initialize(to: GrowingStack()) }
  }

  deinit {
    lists.deinitialize(count: mask + 1)
    lists.deallocate()
  }

  /// Adds a node at a cost that is at least the current one, and above it by no more than the highest cost.
  @inline(__always)
  mutating func add(_ node: NodeID, cost newCost: UInt32) {
    lists[Int(newCost) & mask].push(node)
    remaining &+= 1
  }

  /// The next node, in order of cost; nil when none is left.
  @inline(__always)
  mutating func next() -> NodeID? {
    if remaining == 0 { return nil }
    while taken == lists[Int(cost) & mask].count {
      lists[Int(cost) & mask].truncate(to: 0)
      taken = 0
      cost &+= 1
    }
    let node = lists[Int(cost) & mask].start[taken]
    taken &+= 1
    remaining &-= 1
    return node
  }

  /// Forgets all entries, and begins again at cost 0. O(lists).
  mutating func clear() {
    for index in 0...mask { lists[index].truncate(to: 0) }
    (taken, remaining, cost) = (0, 0, 0)
  }
}
