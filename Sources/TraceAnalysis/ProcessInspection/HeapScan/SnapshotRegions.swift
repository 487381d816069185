// Mappings of a process as records of a trace.

import CTraceFormat

/// Mappings as a trace has them.
enum SnapshotRegions {
  /// - Parameter threads: The first is the main thread. Where names of mappings are not known, its stack pointer tells
  ///   which is the main stack.
  static func regions(of mappings: [MemoryMapping], threads: [InspectedThread]) -> [lt_snapshot_region] {
    let knowsNames = mappings.contains { !$0.kernelName.isEmpty }
    return mappings.map { mapping in
      let isMainStack =
        knowsNames
        ? mapping.kernelName == "[stack]"
        : mapping.isPrivateAnonymous && threads.first.map { mapping.range.contains($0.stackPointer) } ?? false
      let kind =
        mapping.isShared
        ? LT_REGION_SHARED
        : mapping.kernelName == "[heap]"
          ? LT_REGION_BREAK
          : isMainStack ? LT_REGION_MAIN_STACK : mapping.file != nil ? LT_REGION_FILE : LT_REGION_ANONYMOUS
      var flags =
        (mapping.isReadable ? LT_REGION_READABLE : 0) | (mapping.isWritable ? LT_REGION_WRITABLE : 0)
        | (mapping.isExecutable ? LT_REGION_EXECUTABLE : 0)
      // The kernel's own are [vvar], [vdso] and [vsyscall]. Memory without a file that is shared is shared with children.
      let isOwn =
        mapping.isShared
        ? mapping.file?.path == "/dev/zero (deleted)"
        : (mapping.isWritable || mapping.file == nil) && !mapping.kernelName.hasPrefix("[v")
      if mapping.isReadable && isOwn { flags |= LT_REGION_CAPTURED }
      return lt_snapshot_region(
        start: mapping.range.lowerBound, end: mapping.range.upperBound, kind: UInt32(kind), flags: UInt32(flags))
    }
  }
}
