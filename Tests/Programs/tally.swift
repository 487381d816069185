// Tallies the output of `leaktrace dump --by-time` (standard input): counts the events of each operation and the allocated
// and live blocks of each size. It shares no code with the analysis, so that the two check each other.
import Glibc

/// Lines that begin with "stack" define stacks. FIELDS of the others: place, thread=N, time=T, operation, address=0xA, size=N or count=N or more.
struct Tally {
  var events = 0
  /// Frees of blocks that were not live, and allocations of blocks that were.
  var orphans = 0
  var threads: Set<UInt64> = []
  var operations: [String: Int] = [:]
  var allocated: [UInt64: Int] = [:]
  var live: [UInt64: UInt64] = [:]

  static let frees: Set<String> = ["free", "realloc_free", "operator_delete"]
  static let allocations: Set<String> = [
    "swift_allocObject", "malloc", "calloc", "realloc", "reallocarray", "posix_memalign", "aligned_alloc", "memalign", "valloc",
    "pvalloc", "operator_new",
  ]

  mutating func add(_ line: UnsafeBufferPointer<UInt8>) {
    if line.starts(with: "stack ".utf8) { return }
    let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 6)
    // A mark is no event.
    if fields.count == 4, fields[3].elementsEqual("end".utf8) { return }
    guard fields.count >= 5, let thread = number(fields[1], 10), let address = number(fields[4], 16) else {
      fputs("not an event: \(String(decoding: line, as: UTF8.self))\n", stderr)
      exit(1)
    }
    let operation = String(decoding: fields[3], as: UTF8.self)
    events += 1
    threads.insert(thread)
    operations[operation, default: 0] += 1
    if Self.frees.contains(operation) {
      if live.removeValue(forKey: address) == nil { orphans += 1 }
    } else if Self.allocations.contains(operation) {
      let size = fields.count > 5 ? number(fields[5], 10) ?? 0 : 0
      allocated[size, default: 0] += 1
      if live.updateValue(size, forKey: address) != nil { orphans += 1 }
    } else if operation == "realloc_failed" {
      if live.updateValue(0, forKey: address) != nil { orphans += 1 }
    }
  }

  /// The number after the equals sign.
  func number(_ field: Slice<UnsafeBufferPointer<UInt8>>, _ radix: UInt64) -> UInt64? {
    guard let equals = field.firstIndex(of: UInt8(ascii: "=")) else { return nil }
    var rest = field[(equals + 1)...]
    if radix == 16, rest.starts(with: [UInt8(ascii: "0"), UInt8(ascii: "x")]) { rest = rest.dropFirst(2) }
    guard !rest.isEmpty else { return nil }
    var result: UInt64 = 0
    for byte in rest {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): result = result &* radix &+ UInt64(byte - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f") where radix == 16: result = result &* 16 &+ UInt64(byte - UInt8(ascii: "a")) + 10
      default: return nil
      }
    }
    return result
  }
}

var tally = Tally()
var line: UnsafeMutablePointer<CChar>?
var capacity = 0
while true {
  let length = getline(&line, &capacity, stdin)
  guard length > 0, let start = line else { break }
  start.withMemoryRebound(to: UInt8.self, capacity: length) {
    tally.add(UnsafeBufferPointer(start: $0, count: $0[length - 1] == UInt8(ascii: "\n") ? length - 1 : length))
  }
}
print("events \(tally.events)")
print("orphans \(tally.orphans)")
print("threads \(tally.threads.count)")
for (operation, count) in tally.operations { print("operation \(operation) \(count)") }
let liveBySize = tally.live.values.reduce(into: [UInt64: Int]()) { $0[$1, default: 0] += 1 }
for (size, count) in tally.allocated { print("size \(size) \(count) \(liveBySize[size] ?? 0)") }
