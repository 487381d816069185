// A queue that returns nodes in order of cost.

/// A queue for shortest-path searches over edges that cost 0 to 255.
///
/// The queue is a ring of lists, with one list for each cost that a waiting entry can have (R. B. Dial, CACM 12
/// (1969)). Entries of equal cost leave in the order of their insertion, so results depend only on the graph. A node
/// may be in the queue several times. The caller must skip an entry if its node was added again at a lower cost.
/// Memory: 4 bytes an entry.
struct CostQueue: ~Copyable {
  private let lists: UnsafeMutablePointer<GrowingStack<NodeID>>
  private let mask: Int
  /// The number of entries of the current list that have been taken.
  private var taken = 0
  private var remaining = 0
  /// The cost of the entry that was taken last. No entry of a lower cost can be added.
  private(set) var cost: UInt32 = 0

  /// Makes a queue for edges, and first entries, that cost at most `highestCost`.
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

  /// Adds a node. Its cost must be at least `cost`, and at most `highestCost` more than that.
  @inline(__always)
  mutating func add(_ node: NodeID, cost newCost: UInt32) {
    lists[Int(newCost) & mask].push(node)
    remaining &+= 1
  }

  /// Takes the next node, in order of cost; nil if none is left.
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

  /// Removes all entries, and sets the cost to 0. O(lists).
  mutating func clear() {
    for index in 0...mask { lists[index].truncate(to: 0) }
    (taken, remaining, cost) = (0, 0, 0)
  }
}
