// Limits on the work that hostile memory or a damaged core may cause.

/// Amounts that no process reaches, so that nothing keeps the inspector busy without end.
enum InspectionLimits {
  /// Segments of a core: sixteen times what a process may map by default (`vm.max_map_count`).
  static let segments = 1 << 20
  /// Bytes of one part of a core with notes. A thread takes some 3 kB of them.
  static let noteBytes: UInt64 = 1 << 28
  /// Notes of a core; a thread has about five.
  static let notes = 1 << 20
  /// Bytes of the file that lists a live process's mappings.
  static let mappingListBytes = 1 << 28
  /// Bytes of an ELF file's beginning in which its build ID is looked for.
  static let imageHeaderBytes = 4096

  /// Bytes of initialised data that are searched for a main arena.
  static let arenaSearchBytes: UInt64 = 1 << 28
  /// Copies of libc in a process: as many namespaces as its loader has (`DL_NNS`).
  static let namespaces = 16
  /// Arenas of a process; glibc makes eight for each processor.
  static let arenas = 1 << 16
  /// Heaps of one arena, of 64 MiB each.
  static let heapsOfArena = 1 << 20
  /// Bytes that are searched for the next chunk where a chain of them is broken.
  static let resynchronisationBytes: UInt64 = 1 << 30
  /// Pages of a heap that may be missing before the rest is given up.
  static let missingPages = 1 << 16
  /// Bytes of other memory that are searched for mapped chunks.
  static let mappedChunkSearchBytes: UInt64 = 1 << 36
  /// Bytes below a thread pointer in which libc's thread-local variables are.
  static let threadLocalBytes: UInt64 = 1 << 14
}
