// Fills memory with trees of small objects, prints "ready OBJECTS", and waits.
// Usage: many-objects TREES. A tree has 32,767 objects of 48 or 80 bytes. The core of 1,680 trees has 4 GB.

import Glibc

final class Leaf {
  var left: AnyObject?
  var right: AnyObject?
  var key: Int
  var value: Int

  init(_ left: AnyObject?, _ right: AnyObject?, key: Int) {
    (self.left, self.right, self.key, value) = (left, right, key, key &* 7)
  }
}

final class Page {
  var left: AnyObject?
  var right: AnyObject?
  var (first, second, third, fourth, fifth, sixth) = (1, 2, 3, 4, 5, 6)

  init(_ left: AnyObject?, _ right: AnyObject?) { (self.left, self.right) = (left, right) }
}

func tree(depth: Int) -> AnyObject? {
  guard depth > 0 else { return nil }
  let (left, right) = (tree(depth: depth - 1), tree(depth: depth - 1))
  return depth % 2 == 0 ? Page(left, right) : Leaf(left, right, key: depth)
}

var trees: [AnyObject?] = []
for _ in 0..<(CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 1) { trees.append(tree(depth: 15)) }
print("ready \(trees.count * 32767)")
fflush(stdout)
while true { sleep(1000) }
