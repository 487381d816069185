// A trace for tests that use only the public interface.

/// Traces as bytes.
public enum SampleTrace {
  /// A process that allocated `count` blocks of 100 bytes and one of 5,000. At its end nothing refers to the former; a
  /// global variable holds the latter.
  public static func lostBlocks(_ count: Int) throws -> [UInt8] {
    let heap = HeapBuilder()
    for _ in 0..<count { _ = heap.malloc(100) }
    heap.global(heap.malloc(5_000, stack: [0x1000_2000]))
    return try heap.bytes()
  }
}
