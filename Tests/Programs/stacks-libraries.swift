// Allocates at the end of call paths through the Swift library and Foundation, many of whose functions have no unwind information, and
// calls stacks_point beside each for a debugger to stop in.
import Foundation

@_silgen_name("stacks_next_size") func nextSize() -> Int
@_silgen_name("stacks_allocate") func allocate(_ size: Int) -> UnsafeMutableRawPointer
@_silgen_name("stacks_point") func point(_ size: Int)

@inline(__always) func mark() {
  let size = nextSize()
  let block = allocate(size)
  point(size)
  free(block)
}

struct Key: Hashable, Comparable, CustomStringConvertible, Codable {
  var number: Int
  @inline(never) static func == (a: Key, b: Key) -> Bool { if a.number == 3 { mark() }; return a.number == b.number }
  @inline(never) static func < (a: Key, b: Key) -> Bool { if a.number == 5 { mark() }; return a.number < b.number }
  @inline(never) func hash(into hasher: inout Hasher) { if number == 7 { mark() }; hasher.combine(number) }
  var description: String { mark(); return "key \(number)" }
  init(_ number: Int) { self.number = number }
  @inline(never) init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if decoder.codingPath.count < 2 { mark() }
    number = try container.decode(Int.self)
  }
  @inline(never) func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if number == 2 { mark() }
    try container.encode(number)
  }
}
final class Watcher {
  let name: String
  init(_ name: String) { self.name = name }
  deinit { mark() }
}
struct Countdown: Sequence, IteratorProtocol {
  var left: Int
  mutating func next() -> Int? { if left == 2 { mark() }; left -= 1; return left < 0 ? nil : left }
}
let lazyGlobal: Int = { mark(); return 5 }()
enum Globals { static let first: String = { mark(); return "\(Key(1))" }() }

@inline(never) func collections(_ count: Int) -> Int {
  let keys = (0..<count).map { Key($0) }
  var dictionary: [Key: Int] = [:]
  for key in keys { dictionary[key, default: 0] += 1 }
  let sorted = keys.reversed().sorted()
  let grouped = Dictionary(grouping: keys) { key in if key.number == 1 { mark() }; return key.number % 3 }
  let set = Set(keys).union([Key(100)])
  let found = keys.firstIndex(of: Key(8)) ?? 0
  let reduced = keys.reduce(into: 0) { sum, key in if key.number == 4 { mark() }; sum += key.number }
  let lazily = keys.lazy.filter { if $0.number == 6 { mark() }; return $0.number % 2 == 0 }.map(\.number)
  let compared = keys.elementsEqual(keys) { a, b in if a.number == 9 { mark() }; return a == b }
  return sorted.count + grouped.count + set.count + found + reduced + Array(lazily).count + (compared ? 1 : 0) + Array(Countdown(left: 5)).count
}
@inline(never) func texts() -> Int {
  let text = String(describing: [Key(1), Key(2)]) + "\([Key(3): Key(4)])" + String(reflecting: Optional(Key(5)))
  return text.count
}
@inline(never) func objects() {
  var watchers: [Any] = [Watcher("one"), [Watcher("two")], ["key": Watcher("three")]]
  watchers.removeLast()
  watchers = []
  let boxed: any Error = NSError(domain: "d", code: 1, userInfo: ["watcher": Watcher("four")])
  withExtendedLifetime(boxed) {}
}
@inline(never) func coding() throws -> Int {
  let data = try JSONEncoder().encode(["keys": [Key(1), Key(2), Key(3)]])
  return try JSONDecoder().decode([String: [Key]].self, from: data).count
}
@inline(never) func foundation() -> Int {
  let queue = DispatchQueue(label: "serial")
  queue.sync { mark() }
  DispatchQueue.concurrentPerform(iterations: 1) { _ in mark() }
  let array = NSArray(array: [3, 1, 2])
  let sorted = array.sortedArray(comparator: { a, b in
    mark()
    return (a as! Int) < (b as! Int) ? .orderedAscending : .orderedDescending
  })
  let thread = Thread { mark() }
  thread.start()
  while !thread.isFinished { usleep(1000) }
  return sorted.count
}

print(collections(12), texts(), lazyGlobal, Globals.first)
objects()
print(try coding(), foundation())
