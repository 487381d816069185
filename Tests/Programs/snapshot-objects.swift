// Keeps Swift objects in the standard library's collections, and prints where they are. "object NAME ADDRESS".
import Glibc

final class Node {
  var next: Node?
  weak var back: Node?
  var tag = 0x1122_3344_5566_7788
}
final class Holder<Element> {
  var element: Element
  init(_ element: Element) { self.element = element }
}

func address(_ object: AnyObject) -> String { "0x" + String(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()), radix: 16) }

let first = Node(), second = Node()
first.next = second
second.back = first
var array = [Node]()
for _ in 0..<11 { array.append(second) }
var dictionary: [Int: Node] = [:]
for i in 0..<300 { dictionary[i] = i % 2 == 0 ? first : second }
var set: Set<Int> = []
for i in 0..<40 { set.insert(i) }
let holder = Holder((first, Optional(second)))
// Each is held on with a known count.
let held = [first, first, first]
print("object first \(address(first))")
print("object second \(address(second))")
print("object holder \(address(holder))")
print("object array \(address(unsafeBitCast(array, to: AnyObject.self)))")
print("object dictionary \(address(unsafeBitCast(dictionary, to: AnyObject.self)))")
print("object set \(address(unsafeBitCast(set, to: AnyObject.self)))")
print("metadata node 0x\(String(UInt(bitPattern: unsafeBitCast(Node.self, to: UnsafeRawPointer.self)), radix: 16))")
print("metadata holder 0x\(String(UInt(bitPattern: unsafeBitCast(type(of: holder), to: UnsafeRawPointer.self)), radix: 16))")
withExtendedLifetime((array, dictionary, set, held)) { exit(5) }
