// Converts the mappings of a process to records of a trace.

import CTraceFormat

/// Converts mappings to the regions of a heap image.
enum SnapshotRegions {
  /// - Parameter threads: The main thread must come first. If the mappings have no names, the main thread's stack
  ///   pointer identifies the main stack.
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
      // Leave out the kernel's own mappings: [vvar], [vdso] and [vsyscall]. A shared mapping of /dev/zero is anonymous
      // memory that the process shares with its children.
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
