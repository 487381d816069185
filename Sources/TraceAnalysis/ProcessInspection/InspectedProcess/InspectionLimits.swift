// Limits on the work that hostile memory or a damaged core may cause.

/// Limits on the inspector's work. No real process reaches them.
enum InspectionLimits {
  /// Segments of a core: sixteen times the default limit of a process's mappings (`vm.max_map_count`).
  static let segments = 1 << 20
  /// Bytes of one note segment of a core. The notes of a thread take about 3 kB.
  static let noteBytes: UInt64 = 1 << 28
  /// Notes of a core; a thread has about five.
  static let notes = 1 << 20
  /// Bytes of the file that lists a live process's mappings.
  static let mappingListBytes = 1 << 28
  /// Bytes at the beginning of an ELF file that are read for its headers and build ID.
  static let imageHeaderBytes = 4096

  /// Bytes of libc's constants that are searched for its release; libc has less than one MiB of them.
  static let libcConstantBytes = 1 << 24
}
