final class Node {
  let value: Int
  let next: Node?
  init(_ value: Int, _ next: Node?) { (self.value, self.next) = (value, next) }
}

final class Cursor {
  var current: Node
  var previous: Node?
  init(_ current: Node) { self.current = current }
}

@inline(never) func makeList(_ count: Int) -> Node {
  var first = Node(0, nil)
  for value in 1..<count { first = Node(value, first) }
  return first
}
