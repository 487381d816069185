// Builds and drops binary trees like churn. Several threads divide the work, which is equal for any
// number of threads.
// Usage: threads THREADS DEPTH ITERATIONS. Prints the number of nodes.

import Glibc

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

let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
let (threads, depth, iterations) = (arguments[0], arguments[1], arguments[2])
precondition(threads > 0 && iterations % threads == 0, "the iterations must be a multiple of the threads")

/// One entry for each thread: its number of iterations, the depth of its trees, and its result.
let shares = UnsafeMutablePointer<(iterations: Int, depth: Int, nodes: Int)>.allocate(capacity: threads)
let handles = UnsafeMutablePointer<pthread_t>.allocate(capacity: threads)
for index in 0..<threads {
  shares[index] = (iterations / threads, depth, 0)
  let code = pthread_create(
    &handles[index], nil,
    { argument in
      let share = argument!.assumingMemoryBound(to: (iterations: Int, depth: Int, nodes: Int).self)
      for _ in 0..<share.pointee.iterations { share.pointee.nodes += tree(share.pointee.depth).count() }
      return nil
    }, &shares[index])
  precondition(code == 0, "pthread_create failed")
}
var nodes = 0
for index in 0..<threads {
  pthread_join(handles[index], nil)
  nodes += shares[index].nodes
}
print(nodes)
