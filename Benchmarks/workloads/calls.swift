// One kind of call, COUNT times, among preparations that depend on LIMIT alone: the difference between two counts is the cost of the calls.
// Usage: calls malloc|free|object|retain|release COUNT LIMIT. Prints COUNT.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

final class Node {
  var value: Int
  init(_ value: Int) { self.value = value }
}

// Not inlined: calls that stand side by side would be merged.
@inline(never) func retainOnce(_ object: Unmanaged<Node>) { _ = object.retain() }
@inline(never) func releaseOnce(_ object: Unmanaged<Node>) { object.release() }
@inline(never) func makeObject(_ value: Int) -> Unmanaged<Node> { Unmanaged.passRetained(Node(value)) }

let kind = CommandLine.arguments[1]
let count = Int(CommandLine.arguments[2])!
let limit = Int(CommandLine.arguments[3])!
let blocks = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: limit)
let object = makeObject(0)

switch kind {
case "malloc":
  for index in 0..<count { blocks[index] = malloc(48) }
case "free":
  for index in 0..<limit { blocks[index] = malloc(48) }
  for index in 0..<count { free(blocks[index]) }
case "object":
  for index in 0..<count { blocks[index] = makeObject(index).toOpaque() }
case "retain":
  for _ in 0..<count { retainOnce(object) }
case "release":
  for _ in 0..<limit { retainOnce(object) }
  for _ in 0..<count { releaseOnce(object) }
default:
  fatalError("unknown kind of call")
}
print(count)
