// Builds and drops binary trees: only small objects, retains and releases.
// Usage: churn DEPTH ITERATIONS. Prints the number of nodes.

final class Node {
  var left: Node?
  var right: Node?

  init(_ left: Node?, _ right: Node?) {
    self.left = left
    self.right = right
  }

  func count() -> Int { 1 + (left?.count() ?? 0) + (right?.count() ?? 0) }
}

@inline(never)
func tree(_ depth: Int) -> Node {
  depth == 0 ? Node(nil, nil) : Node(tree(depth - 1), tree(depth - 1))
}

let depth = Int(CommandLine.arguments[1])!
let iterations = Int(CommandLine.arguments[2])!
var nodes = 0
for _ in 0..<iterations { nodes += tree(depth).count() }
print(nodes)
