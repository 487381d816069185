// A trace for tests that use only the public interface.

/// Makes traces as bytes.
public enum SampleTrace {
  /// Returns the trace of a process that allocated `count` blocks of 100 bytes and one of 5,000. At its end, nothing
  /// refers to the small blocks, and a global variable holds the large one.
  public static func lostBlocks(_ count: Int) throws -> [UInt8] {
    let heap = HeapBuilder()
    for _ in 0..<count { _ = heap.malloc(100) }
    heap.global(heap.malloc(5_000, stack: [0x1000_2000]))
    return try heap.bytes()
  }
}
