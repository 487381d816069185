// Allocators that leaktrace does not read.

import TraceReading

/// Names the allocator that replaces the C library's allocator in a process, if leaktrace cannot read its layout.
enum OtherAllocators {
  /// Maps the beginnings of file names to the allocators in such files.
  private static let files = [
    "libtcmalloc": "a tcmalloc other than gperftools 2.8 to 2.18",
    "libmimalloc": "a mimalloc other than 2.0, 3.0, 3.1, 3.4 and 3.6",
    "libjemalloc": "a jemalloc other than 5.1 to 5.3",
  ]

  /// Returns nil if no mapped file has the name of such an allocator. O(mappings)
  static func name(in memory: any ProcessMemory) -> String? {
    for mapping in memory.mappings {
      guard let file = mapping.file?.name else { continue }
      if let known = files.first(where: { file.hasPrefix($0.key) }) { return "\(known.value) (\(file))" }
    }
    return nil
  }
}
