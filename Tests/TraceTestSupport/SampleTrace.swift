// A trace for tests that see only what is public.

/// Traces as bytes.
public enum SampleTrace {
  /// A process that allocated `count` blocks of 100 bytes, to which nothing points at its end, and one of 5,000 that a
  /// global variable holds.
  public static func lostBlocks(_ count: Int) throws -> [UInt8] {
    let heap = HeapBuilder()
    for _ in 0..<count { _ = heap.malloc(100) }
    heap.global(heap.malloc(5_000, stack: [0x1000_2000]))
    return try heap.bytes()
  }
}
