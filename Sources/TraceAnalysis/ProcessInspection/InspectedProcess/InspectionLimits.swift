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

  /// Bytes of libc's constants in which its release is looked for; it has less than one MiB.
  static let libcConstantBytes = 1 << 24
}
