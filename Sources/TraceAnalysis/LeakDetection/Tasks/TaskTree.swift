// The tree of tasks, their groups and their children.

import TraceReading

/// The tasks of an inventory below their parents. Tasks of one row whose parents share a node share a node, too. So a
/// server with 1,000 sessions and two children each has two or three nodes.
package struct TaskTree: Sendable {
  package struct Node: Sendable {
    /// The index of the tasks' row in the inventory.
    package var row: Int
    package var count = 0
    /// The index of the parents' node; nil for tasks without a parent.
    package var parent: Int?
    /// The number of nodes above.
    package var depth: Int
    /// The number of groups that the tasks belong to; 0 for children by `async let` and for tasks without a parent.
    package var groups = 0
  }

  /// Each node comes after its parent. Siblings are in descending order of tasks, with the children of groups first.
  package private(set) var nodes: [Node] = []

  private struct Key: Hashable {
    var row: Int
    var parent: Int?
    var isOfGroup: Bool
  }

  /// O(tasks), and sorts the nodes.
  package init(_ inventory: TaskInventory) {
    var made: [Node] = []
    var numbers: [Key: Int] = [:]
    var nodeOfTask = [Int?](repeating: nil, count: inventory.tasks.count)
    var groups: [Int: Set<RuntimeAddress>] = [:]
    for first in inventory.tasks.indices {
      // The nodes of the parents come first. A damaged image may have a task among its own parents.
      var pending: [Int] = []
      var onWay: Set<Int> = []
      var next: Int? = first
      while let task = next, nodeOfTask[task] == nil, onWay.insert(task).inserted {
        pending.append(task)
        next = inventory.tasks[task].parent
      }
      for index in pending.reversed() {
        let task = inventory.tasks[index]
        let parent = task.parent.flatMap { nodeOfTask[$0] }
        let key = Key(row: task.row, parent: parent, isOfGroup: task.group != nil)
        let node = numbers[key] ?? made.count
        if node == made.count {
          numbers[key] = node
          made.append(Node(row: task.row, parent: parent, depth: parent.map { made[$0].depth + 1 } ?? 0))
        }
        made[node].count += 1
        if let group = task.group { groups[node, default: []].insert(group) }
        nodeOfTask[index] = node
      }
    }
    for (node, found) in groups { made[node].groups = found.count }
    arrange(made)
  }

  /// Puts each node behind its parent and its parent's larger children.
  private mutating func arrange(_ made: [Node]) {
    var children: [Int?: [Int]] = [:]
    for (index, node) in made.enumerated() { children[node.parent, default: []].append(index) }
    func sorted(_ parent: Int?) -> [Int] {
      (children[parent] ?? []).sorted { a, b in
        let (first, second) = (made[a], made[b])
        if (first.groups > 0) != (second.groups > 0) { return first.groups > 0 }
        return (second.count, first.row) < (first.count, second.row)
      }
    }
    var places = [Int](repeating: 0, count: made.count)
    var pending = Array(sorted(nil).reversed())
    while let index = pending.popLast() {
      var node = made[index]
      node.parent = node.parent.map { places[$0] }
      places[index] = nodes.count
      nodes.append(node)
      pending += sorted(index).reversed()
    }
  }

  /// Returns the indices of the nodes whose rows `isShown` chooses, and of all nodes above them, in order.
  package func nodes(of inventory: TaskInventory, where isShown: (TaskInventory.Row) -> Bool) -> [Int] {
    var shown = nodes.map { isShown(inventory.rows[$0.row]) }
    for index in nodes.indices.reversed() where shown[index] {
      if let parent = nodes[index].parent { shown[parent] = true }
    }
    return nodes.indices.filter { shown[$0] }
  }
}
