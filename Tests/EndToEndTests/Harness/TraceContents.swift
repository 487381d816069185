// What `leaktrace dump` says is in a trace, tallied without any help of the analysis.

import Testing
import TraceAnalysis

/// The events of a trace, counted, and replayed into the set of live blocks.
struct TraceContents {
  private(set) var eventCount: UInt64 = 0
  /// Frees of blocks that were not live, and allocations of blocks that were.
  private(set) var orphans = 0
  private(set) var threads: Set<Int> = []
  private var counts: [String: Int] = [:]
  private var allocated: [Int: Int] = [:]
  private var live: [UInt64: Int] = [:]

  var threadCount: Int { threads.count }
  /// The number of events of an operation, by the name that `dump` gives it.
  func count(_ operation: String) -> Int { counts[operation, default: 0] }
  func allocations(ofSize size: Int) -> Int { allocated[size, default: 0] }
  func liveBlocks(ofSize size: Int) -> Int { live.values.reduce(0) { $0 + ($1 == size ? 1 : 0) } }

  /// Dumps the trace with the command under test.
  init(_ path: String) throws {
    var command = Command([BuildProducts.leaktrace, "dump", "--by-time", path])
    command.timeLimit = 300
    let outcome = try command.run()
    guard outcome.end == .exit(0), outcome.errorOutput.isEmpty else {
      throw CommandFailure("leaktrace dump \(path): \(outcome.end) \(outcome.errorOutput)")
    }
    var output = outcome.output
    try output.withUTF8 { bytes in
      for line in bytes.split(separator: UInt8(ascii: "\n")) { try add(line) }
    }
  }

  /// A line is: place, thread=N, time=T, operation, address=0xA, size=N or count=N, and more.
  private mutating func add(_ line: Slice<UnsafeBufferPointer<UInt8>>) throws {
    let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 6)
    guard fields.count >= 5, let thread = Self.value(of: fields[1], radix: 10), let address = Self.value(of: fields[4], radix: 16)
    else { throw CommandFailure("not an event: \(String(decoding: line, as: UTF8.self))") }
    let operation = String(decoding: fields[3], as: UTF8.self)
    eventCount += 1
    threads.insert(Int(thread))
    counts[operation, default: 0] += 1
    switch operation {
    case "free", "realloc_free", "operator_delete":
      if live.removeValue(forKey: address) == nil { orphans += 1 }
    case "swift_allocObject", "malloc", "calloc", "realloc", "reallocarray", "posix_memalign", "aligned_alloc", "memalign",
      "valloc", "pvalloc", "operator_new":
      let size = fields.count > 5 ? Int(Self.value(of: fields[5], radix: 10) ?? 0) : 0
      allocated[size, default: 0] += 1
      if live.updateValue(size, forKey: address) != nil { orphans += 1 }
    case "realloc_failed":
      if live.updateValue(0, forKey: address) != nil { orphans += 1 }
    default:
      break
    }
  }

  /// The number after the equals sign.
  private static func value(of field: Slice<UnsafeBufferPointer<UInt8>>, radix: UInt64) -> UInt64? {
    guard let equals = field.firstIndex(of: UInt8(ascii: "=")) else { return nil }
    var result: UInt64 = 0
    var rest = field[(equals + 1)...]
    if radix == 16, rest.starts(with: [UInt8(ascii: "0"), UInt8(ascii: "x")]) { rest = rest.dropFirst(2) }
    guard !rest.isEmpty else { return nil }
    for byte in rest {
      let digit: UInt64
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = UInt64(byte - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f") where radix == 16: digit = UInt64(byte - UInt8(ascii: "a")) + 10
      default: return nil
      }
      result = result &* radix &+ digit
    }
    return result
  }
}
