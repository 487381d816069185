// The memory of a process that left a core file.

import TraceReading
import TraceSymbolication

/// Memory from a core file. If the core leaves out contents of mapped files, they are read from disk, provided that the
/// files are still the same.
///
/// For one thread at a time.
package final class CoreMemory: ProcessMemory {
  package let mappings: [MemoryMapping]
  package private(set) var threads: [InspectedThread]
  package var processor: Processor { core.processor }
  package var pageSize: UInt64 { core.pageSize }
  /// 0 if the core does not have the number.
  package var processID: Int32 { core.processID }
  package var parentProcessID: Int32 { core.parentProcessID }
  /// Whether the file ends before the memory that its headers promise.
  var isTruncated: Bool { core.isTruncated }
  /// Bytes of anonymous memory that the core leaves out, because of the process's `coredump_filter` or the core's
  /// writer.
  let missingAnonymousBytes: UInt64
  /// The number of threads whose stack is all zeros in the core. Some writers of cores cannot read a guard page in the
  /// stack's mapping, and leave out the rest of the mapping (gdb 13.1 with glibc 2.42 or later). gdb 18.1 writes the
  /// rest.
  let missingStacks: Int
  /// True if the core lacks memory that may hold objects.
  let lacksMemory: Bool
  /// Paths of mapped files whose bytes are missing: the core leaves them out, and the file on disk is gone or of
  /// another build. Sorted. A path may have any bytes.
  let missingFiles: [String]

  private let core: CoreFile
  private let substitutes: [String: ImageSubstitute]

  /// - Parameters:
  ///   - search: The places where the mapped files may be.
  ///   - files: Reads the mapped files.
  ///   - directory: A compressed core is unpacked here, into a file without a name.
  package convenience init(
    path: String, search: DebugFileSearch = DebugFileSearch(), files: any SymbolFileAccess = LocalSymbolFiles(),
    unpackingIn directory: String = "/tmp"
  ) throws(InspectionError) {
    try self.init(CoreFile(path: path, unpackingIn: directory), search, files: files)
  }

  private init(_ core: CoreFile, _ search: DebugFileSearch, files access: any SymbolFileAccess) {
    self.core = core
    threads = core.threads
    var mappings: [MemoryMapping] = []
    mappings.reserveCapacity(core.segments.count)
    var index = 0
    for segment in core.segments {
      while index < core.files.count, core.files[index].range.upperBound <= segment.range.lowerBound { index += 1 }
      var file: BackingFile?
      if index < core.files.count, core.files[index].range.contains(segment.range.lowerBound) {
        let found = core.files[index]
        let (offset, overflow) = found.file.offset.addingReportingOverflow(
          segment.range.lowerBound - found.range.lowerBound)
        if !overflow { file = BackingFile(path: found.file.path, offset: offset) }
      }
      mappings.append(
        MemoryMapping(
          range: segment.range, isReadable: segment.flags & 4 != 0, isWritable: segment.flags & 2 != 0,
          isExecutable: segment.flags & 1 != 0, file: file))
    }
    var incomplete: Set<String> = []
    var missing: UInt64 = 0
    var untouched: UInt64 = 0
    var hasOwnMemory = false
    let data = Self.kernelData(before: core.kernelCode, mappings)
    for (segment, mapping) in zip(core.segments, mappings) {
      let length = segment.range.upperBound - segment.range.lowerBound
      if mapping.file == nil, mapping.isWritable, segment.size > 0 { hasOwnMemory = true }
      guard segment.size < length else { continue }
      if let file = mapping.file {
        incomplete.insert(file.path)
      } else if mapping.isReadable, !data.contains(segment.range.lowerBound) {
        if segment.size > 0 { missing &+= length - segment.size } else { untouched &+= length }
      }
    }
    // The kernel leaves out mappings that were never written to. If the core has no anonymous memory at all, a filter
    // left it out.
    missingAnonymousBytes = hasOwnMemory ? missing : missing &+ untouched
    missingStacks = Self.missingStacks(of: core)
    lacksMemory = core.isTruncated || missingAnonymousBytes > 0 || missingStacks > 0
    var substitutes: [String: ImageSubstitute] = [:]
    var heads: [String: UInt64] = [:]
    for found in core.files where found.file.offset == 0 && incomplete.contains(found.file.path) {
      if heads[found.file.path] == nil { heads[found.file.path] = found.range.lowerBound }
    }
    for (path, head) in heads {
      let header = Self.knownBytes(of: core, at: head, count: InspectionLimits.imageHeaderBytes)
      substitutes[path] = ImageSubstitute(path: path, header: header, pageSize: core.pageSize, search, access)
    }
    self.substitutes = substitutes
    // Debuggers leave out code that the file on disk has, and do not record the protection of that code.
    for index in mappings.indices where core.segments[index].size == 0 && !mappings[index].isWritable {
      guard let file = mappings[index].file, substitutes[file.path]?.hasCode(at: file.offset) == true else { continue }
      mappings[index].isExecutable = true
    }
    self.mappings = mappings
    missingFiles = incomplete.filter { substitutes[$0] == nil }.sorted()
    for index in threads.indices where core.processor == .arm64 { findCall(of: &threads[index]) }
  }

  /// Finds the system call of a thread on arm64, by the code at its address. The kernel has returned to the instruction
  /// of a call that it will restart, so the call's number is not in the core as such. It is in x8.
  private func findCall(of thread: inout InspectedThread) {
    let (size, callInstruction): (UInt64, UInt32) = (4, 0xD400_0001)  // svc #0
    let code = bytes(at: thread.instructionPointer &- size, count: 2 * Int(size))
    guard code.count == 2 * Int(size), thread.instructionPointer % size == 0 else { return }
    let words = code.withUnsafeBytes { bytes in
      [0, Int(size)].map { UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt32.self)) }
    }
    let (number, result) = (thread.registers[8], Int64(bitPattern: thread.registers[0]))
    if words[1] == callInstruction {
      thread.activity = .inCall(number, waits: true)
    } else if words[0] == callInstruction {
      thread.activity = .inCall(number, waits: InspectedThread.interruptions.contains(result))
    } else {
      thread.activity = .computing
    }
  }

  /// Returns the number of threads whose memory is all zeros from the stack pointer to the end of the segment. A real
  /// stack has the thread's first frame, thread-local variables or the program's arguments there. Linear in the zeros.
  private static func missingStacks(of core: CoreFile) -> Int {
    var zeros: Range<UInt64> = 0..<0
    return core.threads.map(\.stackPointer).sorted().count { pointer in
      if zeros.contains(pointer) { return true }
      guard let index = index(of: pointer, in: core.segments), isZero(core, core.segments[index], from: pointer) else {
        return false
      }
      zeros = pointer..<core.segments[index].range.upperBound
      return true
    }
  }

  /// Returns whether the core has bytes of the segment from `address` on, and all of them are zero.
  private static func isZero(_ core: CoreFile, _ segment: CoreFile.Segment, from address: UInt64) -> Bool {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { buffer.deallocate() }
    var offset = address - segment.range.lowerBound
    guard offset < segment.size else { return false }
    while offset < segment.size {
      let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(min(segment.size - offset, 1 << 16))])
      guard core.read(at: segment.fileOffset &+ offset, into: part) == part.count, part.allSatisfy({ $0 == 0 }) else {
        return false
      }
      offset += UInt64(part.count)
    }
    return true
  }

  /// Returns the range of the kernel's own variables in the process, which no core contains. They end where the
  /// kernel's code begins.
  private static func kernelData(before code: UInt64, _ mappings: [MemoryMapping]) -> Range<UInt64> {
    var begin = code
    for mapping in mappings.reversed()
    where mapping.range.upperBound == begin && mapping.file == nil && !mapping.isWritable && !mapping.isExecutable {
      begin = mapping.range.lowerBound
    }
    return begin..<code
  }

  package func read(_ address: RuntimeAddress, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    var done = 0
    while done < buffer.count {
      let (at, overflow) = address.rawValue.addingReportingOverflow(UInt64(done))
      guard !overflow else { break }
      let count = readPiece(at, UnsafeMutableRawBufferPointer(rebasing: buffer[done...]))
      if count == 0 { break }
      done += count
    }
    return done
  }

  /// Returns the parts that the core has. The other parts are unmodified contents of files, or were not saved.
  package func writtenRanges(in range: Range<UInt64>) -> [Range<UInt64>] {
    guard !range.isEmpty, var index = Self.firstIndex(endingAfter: range.lowerBound, in: core.segments) else {
      return []
    }
    var ranges: [Range<UInt64>] = []
    while index < core.segments.count, core.segments[index].range.lowerBound < range.upperBound {
      let segment = core.segments[index]
      let known = segment.range.lowerBound..<segment.range.lowerBound + segment.size
      let part = known.clamped(to: range)
      if !part.isEmpty { ranges.append(part) }
      index += 1
    }
    return ranges
  }

  package var unwoundMemory: UnwoundMemory {
    var pieces: [(range: Range<UInt64>, bytes: UnsafeRawPointer)] = []
    for (segment, mapping) in zip(core.segments, mappings) {
      let known = segment.range.lowerBound + segment.size
      if segment.size > 0, let bytes = core.bytes(at: segment.fileOffset, count: segment.size) {
        pieces.append((segment.range.lowerBound..<known, bytes))
      }
      guard known < segment.range.upperBound, let file = mapping.file,
        let found = substitutes[file.path]?.bytes(from: file.offset, skipping: segment.size)
      else { continue }
      let count = min(UInt64(found.count), segment.range.upperBound - known)
      if count > 0, let bytes = found.baseAddress { pieces.append((known..<known + count, bytes)) }
    }
    return .kept(pieces)
  }

  /// Reads bytes up to the end of the segment, or up to the end of the segment's bytes in the core.
  private func readPiece(_ address: UInt64, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard let index = Self.index(of: address, in: core.segments) else { return 0 }
    let segment = core.segments[index]
    let offset = address - segment.range.lowerBound
    if offset < segment.size {
      let count = min(UInt64(buffer.count), segment.size - offset)
      return core.read(
        at: segment.fileOffset &+ offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(count)]))
    }
    guard let file = mappings[index].file, let substitute = substitutes[file.path] else { return 0 }
    let (from, overflow) = file.offset.addingReportingOverflow(offset)
    let count = min(UInt64(buffer.count), segment.range.upperBound - address)
    return overflow
      ? 0 : substitute.read(at: from, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(count)]))
  }

  private static func knownBytes(of core: CoreFile, at address: UInt64, count: Int) -> [UInt8] {
    guard let index = index(of: address, in: core.segments) else { return [] }
    let segment = core.segments[index]
    let offset = address - segment.range.lowerBound
    guard offset < segment.size else { return [] }
    return [UInt8](unsafeUninitializedCapacity: Int(min(UInt64(count), segment.size - offset))) { buffer, filled in
      filled = core.read(at: segment.fileOffset &+ offset, into: UnsafeMutableRawBufferPointer(buffer))
    }
  }

  private static func index(of address: UInt64, in segments: [CoreFile.Segment]) -> Int? {
    firstIndex(endingAfter: address, in: segments).flatMap { segments[$0].range.contains(address) ? $0 : nil }
  }

  private static func firstIndex(endingAfter address: UInt64, in segments: [CoreFile.Segment]) -> Int? {
    var low = 0
    var high = segments.count
    while low < high {
      let middle = (low + high) / 2
      if segments[middle].range.upperBound <= address { low = middle + 1 } else { high = middle }
    }
    return low < segments.count ? low : nil
  }
}
