// Trees with figures, pruned to a size that can be drawn.

/// A tree with figures. A node's own figures do not include its children's figures.
struct WeightedTree {
  struct Node {
    /// The parent's number, which is lower than the node's own number; −1 for an outermost node.
    var parent: Int
    /// An index into a list of subjects, which the user of the tree keeps.
    var subject: Int
    /// The node's own figures, by measure.
    var own: [UInt64]
  }

  let measureCount: Int
  /// The nodes, with parents before their children.
  private(set) var nodes: [Node] = []
  /// The number of nodes that were joined.
  private(set) var omittedCount = 0

  init(measureCount: Int) { self.measureCount = measureCount }

  mutating func append(parent: Int, subject: Int) -> Int {
    nodes.append(Node(parent: parent, subject: subject, own: [UInt64](repeating: 0, count: measureCount)))
    return nodes.count - 1
  }

  mutating func add(_ values: [UInt64], to node: Int) {
    for measure in values.indices { nodes[node].own[measure] &+= values[measure] }
  }

  /// Joins small nodes until few enough nodes are left. A node is small if its share of the whole is low for every
  /// measure. The small children of a node become one child with the subject `omitted`. O(nodes · log nodes).
  mutating func prune(to limit: Int, omitted: Int) {
    guard nodes.count > limit else { return }
    var totals = nodes.map(\.own)
    var whole = [UInt64](repeating: 0, count: measureCount)
    for index in nodes.indices.reversed() {
      let parent = nodes[index].parent
      for measure in 0..<measureCount {
        if parent >= 0 {
          totals[parent][measure] &+= totals[index][measure]
        } else {
          whole[measure] &+= totals[index][measure]
        }
      }
    }
    let shares = nodes.indices.map { index in
      (0..<measureCount).reduce(0.0) { max($0, Double(totals[index][$1]) / Double(max(1, whole[$1]))) }
    }
    let least = shares.sorted(by: >)[limit / 2]
    var places = [Int](repeating: -1, count: nodes.count)
    var rest: [Int: Int] = [:]
    var kept: [Node] = []
    for index in nodes.indices {
      let node = nodes[index]
      let parent = node.parent < 0 ? -1 : places[node.parent]
      // If the parent is already part of a joined node, that node includes this one.
      if node.parent >= 0, parent < -1 {
        places[index] = parent
        continue
      }
      if shares[index] > least, kept.count < limit {
        places[index] = kept.count
        kept.append(Node(parent: parent, subject: node.subject, own: node.own))
        continue
      }
      omittedCount += 1
      let place: Int
      if let known = rest[parent] {
        place = known
      } else {
        place = kept.count
        kept.append(Node(parent: parent, subject: omitted, own: [UInt64](repeating: 0, count: measureCount)))
        rest[parent] = place
      }
      for measure in 0..<measureCount { kept[place].own[measure] &+= totals[index][measure] }
      places[index] = -2
    }
    nodes = kept
  }
}
