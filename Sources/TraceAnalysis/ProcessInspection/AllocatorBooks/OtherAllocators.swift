// Allocators that leaktrace does not read.

import TraceReading

/// Names the allocator that a process has instead of the C library's.
enum OtherAllocators {
  /// Beginnings of file names, and the allocators that such files have.
  private static let files = [
    "libtcmalloc": "tcmalloc", "libmimalloc": "mimalloc", "libjemalloc": "a jemalloc other than 5.3",
  ]

  /// Nil if no mapped file has the name of such an allocator. O(mappings)
  static func name(in memory: any ProcessMemory) -> String? {
    for mapping in memory.mappings {
      guard let file = mapping.file?.name else { continue }
      if let known = files.first(where: { file.hasPrefix($0.key) }) { return "\(known.value) (\(file))" }
    }
    return nil
  }
}
