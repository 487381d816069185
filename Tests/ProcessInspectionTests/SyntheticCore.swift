// Makes core files for tests.

/// An ELF core file with segments, threads and the list of mapped files.
struct SyntheticCore {
  struct Segment {
    var address: UInt64
    var bytes: [UInt8]
    /// The size of the segment in memory, at least the number of bytes in the file.
    var size: UInt64
    var flags: UInt32 = 6
  }

  var machine: UInt16 = 62
  var segments: [Segment] = []
  var threads: [(id: UInt32, registers: [UInt64])] = []
  /// The thread pointers of arm64, for the first threads.
  var threadPointers: [UInt64] = []
  /// Bytes of a page; 0 if the core does not have the number.
  var pageSize: UInt64 = 0
  /// The address of the kernel's own code; 0 if the core does not contain it.
  var kernelCode: UInt64 = 0
  var files: [(range: Range<UInt64>, page: UInt64, path: String)] = []

  func bytes() -> [UInt8] {
    var notes: [UInt8] = []
    for (number, thread) in threads.enumerated() {
      var status = [UInt8](repeating: 0, count: 120 + 8 * thread.registers.count)
      status.replaceSubrange(32..<36, with: bytesOf(thread.id))
      for (index, word) in thread.registers.enumerated() {
        status.replaceSubrange(112 + 8 * index..<120 + 8 * index, with: bytesOf(word))
      }
      notes += Self.note(1, status)
      if number < threadPointers.count { notes += Self.note(0x401, bytesOf(threadPointers[number])) }
    }
    if kernelCode != 0 || pageSize != 0 {
      notes += Self.note(6, [33, kernelCode, 6, pageSize, 0, 0].flatMap { bytesOf($0 as UInt64) })
    }
    if !files.isEmpty {
      var list = bytesOf(UInt64(files.count))
      list += bytesOf(UInt64(4096))
      for file in files {
        for word in [file.range.lowerBound, file.range.upperBound, file.page] { list += bytesOf(word) }
      }
      for file in files { list += Array(file.path.utf8) + [0] }
      notes += Self.note(0x4649_4C45, list)
    }
    let programs = segments.count + 1
    let notesOffset = 64 + 56 * programs
    var offset = (notesOffset + notes.count + 4095) & ~4095
    var file: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1] + [UInt8](repeating: 0, count: 9)
    file += bytesOf(UInt16(4)) + bytesOf(machine) + bytesOf(UInt32(1))
    for word in [0, 64, 0] as [UInt64] { file += bytesOf(word) }
    file += bytesOf(UInt32(0))
    for half in [64, 56, UInt16(programs), 0, 0, 0] as [UInt16] { file += bytesOf(half) }
    file += Self.program(4, 0, UInt64(notesOffset), 0, UInt64(notes.count), 0)
    var contents: [UInt8] = []
    for segment in segments {
      file += Self.program(
        1, segment.flags, UInt64(offset), segment.address, UInt64(segment.bytes.count), segment.size)
      contents += segment.bytes
      offset += segment.bytes.count
    }
    file += notes
    file += [UInt8](repeating: 0, count: ((notesOffset + notes.count + 4095) & ~4095) - file.count)
    return file + contents
  }

  private static func note(_ type: UInt32, _ contents: [UInt8]) -> [UInt8] {
    var bytes = bytesOf(UInt32(5))
    bytes += bytesOf(UInt32(contents.count))
    bytes += bytesOf(type)
    bytes += Array("CORE".utf8) + [0, 0, 0, 0]
    bytes += contents
    return bytes + [UInt8](repeating: 0, count: (4 - contents.count % 4) % 4)
  }

  private static func program(
    _ type: UInt32, _ flags: UInt32, _ offset: UInt64, _ address: UInt64, _ fileSize: UInt64, _ size: UInt64
  ) -> [UInt8] {
    var bytes: [UInt8] = bytesOf(type)
    bytes += bytesOf(flags)
    for word in [offset, address, 0, fileSize, size, 4096] as [UInt64] { bytes += bytesOf(word) }
    return bytes
  }
}

/// Returns the bytes of a number in memory on x86-64.
func bytesOf<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
  withUnsafeBytes(of: number.littleEndian) { Array($0) }
}
