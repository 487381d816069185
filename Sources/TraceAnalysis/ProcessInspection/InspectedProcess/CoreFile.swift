// The structure of a core file: its memory ranges, mapped files and threads.

import CElfutils
import Glibc
import TraceReading

/// A core file of a process on x86-64 or arm64, written by the kernel or a debugger. Nothing in the file is trusted.
///
/// Owns the file's descriptor. For one thread at a time.
final class CoreFile {
  /// A range of the process's memory, and the bytes of the range that the file has.
  struct Segment: Hashable, Sendable {
    var range: Range<UInt64>
    var fileOffset: UInt64
    /// The number of bytes that the file has, from the beginning of the range on.
    var size: UInt64
    /// ELF's flags: 1 executable, 2 writable, 4 readable.
    var flags: UInt32
  }

  let path: String
  private(set) var processor = Processor.own
  /// Bytes of a page of the process's memory.
  private(set) var pageSize = MemoryWindow.pageSize
  /// The ranges of memory, in order of addresses, without overlaps.
  private(set) var segments: [Segment] = []
  /// The main thread comes first, if it is known.
  private(set) var threads: [InspectedThread] = []
  /// 0 if the core does not have the number.
  private(set) var processID: Int32 = 0
  private(set) var parentProcessID: Int32 = 0
  /// The mapped files, in order of addresses.
  private(set) var files: [(range: Range<UInt64>, file: BackingFile)] = []
  /// The address of the code that the kernel maps into each process (vDSO); 0 if the core does not have it.
  private(set) var kernelCode: UInt64 = 0
  /// Whether the file ends before the memory that its headers promise.
  private(set) var isTruncated = false

  private let descriptor: Int32
  private let size: UInt64

  /// - Parameter directory: A compressed file is unpacked here, into a file without a name.
  init(path: String, unpackingIn directory: String = "/tmp") throws(InspectionError) {
    self.path = path
    descriptor = try Self.opened(path, unpackingIn: directory)
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw .notACore(path: path)
    }
    size = UInt64(status.st_size)
    do throws(InspectionError) {
      try readOutline()
    } catch {
      close(descriptor)
      throw error
    }
  }

  deinit {
    if let whole { munmap(UnsafeMutableRawPointer(mutating: whole), Int(size)) }
    close(descriptor)
  }

  /// The whole file, mapped; nil if there is no address space for it.
  private lazy var whole: UnsafeRawPointer? = {
    guard let address = mmap(nil, Int(size), PROT_READ, MAP_PRIVATE | MAP_NORESERVE, descriptor, 0),
      address != MAP_FAILED
    else { return nil }
    return UnsafeRawPointer(address)
  }()

  /// Returns bytes of the mapped file, valid as long as this object exists. Nil if the file does not have `count` bytes
  /// there. Only for callers that survive a crash: if the file was shortened, a read raises a signal.
  func bytes(at offset: UInt64, count: UInt64) -> UnsafeRawPointer? {
    guard offset <= size, count <= size - offset else { return nil }
    return whole.map { $0 + Int(offset) }
  }

  private static func opened(_ path: String, unpackingIn directory: String) throws(InspectionError) -> Int32 {
    // The path may lead to a pipe. O_NONBLOCK keeps `open` from waiting for a writer.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw .cannotOpen(path: path, errno: errno) }
    guard let packing = CorePacking(file: descriptor) else { return descriptor }
    defer { close(descriptor) }
    guard packing == .zstd else { throw .packed(path: path, packing) }
    return try PackedCore(path: path, packed: descriptor, directory: directory).unpacked()
  }

  /// Copies bytes of the file. Returns the number of bytes copied.
  func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    var done = 0
    while done < buffer.count {
      let (from, overflow) = offset.addingReportingOverflow(UInt64(done))
      guard !overflow, from < size else { break }
      let count = pread(descriptor, buffer.baseAddress! + done, buffer.count - done, off_t(from))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      done += count
    }
    return done
  }

  private func readOutline() throws(InspectionError) {
    _ = elf_version(UInt32(EV_CURRENT))
    guard let handle = elf_begin(descriptor, ELF_C_READ, nil) else { throw .notACore(path: path) }
    defer { elf_end(handle) }
    var header = GElf_Ehdr()
    guard elf_kind(handle) == ELF_K_ELF, gelf_getehdr(handle, &header) != nil, header.e_type == ET_CORE else {
      throw .notACore(path: path)
    }
    guard let processor = Processor(rawValue: header.e_machine), gelf_getclass(handle) == ELFCLASS64 else {
      throw .otherMachine(path: path, machine: header.e_machine)
    }
    self.processor = processor
    var count = 0
    guard elf_getphdrnum(handle, &count) == 0 else { throw .notACore(path: path) }
    guard count <= InspectionLimits.segments else { throw .beyondLimit(path: path, what: "segments") }
    if count == 0 || header.e_phoff >= size { isTruncated = true }
    var notes = InspectionLimits.notes
    var program = GElf_Phdr()
    for index in 0..<count {
      guard gelf_getphdr(handle, Int32(index), &program) != nil else {
        isTruncated = true
        break
      }
      if program.p_type == PT_LOAD { addSegment(program) }
      if program.p_type == PT_NOTE { try readNotes(handle, program, &notes) }
    }
    sortSegments()
    // The kernel lists the crashed thread first, so move the main thread there.
    if let main = threads.firstIndex(where: { $0.threadID == processID }), main > 0 { threads.swapAt(0, main) }
    files.sort { $0.range.lowerBound < $1.range.lowerBound }
    addUnlistedMappings()
  }

  /// Adds file mappings without a segment, since debuggers leave such segments out. These mappings count as readable,
  /// and the core has none of their bytes.
  private func addUnlistedMappings() {
    var unlisted: [Segment] = []
    var index = 0
    for (range, _) in files where range.upperBound <= RuntimeAddress.limit {
      while index < segments.count, segments[index].range.upperBound <= range.lowerBound { index += 1 }
      if index < segments.count, segments[index].range.lowerBound < range.upperBound { continue }
      unlisted.append(Segment(range: range, fileOffset: 0, size: 0, flags: 4))
    }
    segments += unlisted
    sortSegments()
  }

  private func addSegment(_ program: GElf_Phdr) {
    let (end, overflow) = program.p_vaddr.addingReportingOverflow(program.p_memsz)
    guard !overflow, program.p_memsz > 0, end <= RuntimeAddress.limit else { return }
    let there = size > program.p_offset ? size - program.p_offset : 0
    let promised = min(program.p_filesz, program.p_memsz)
    if promised > there { isTruncated = true }
    segments.append(
      Segment(
        range: program.p_vaddr..<end, fileOffset: program.p_offset, size: min(promised, there),
        flags: program.p_flags))
  }

  /// Sorts segments by address. If segments overlap, only the first one counts.
  private func sortSegments() {
    segments.sort { ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound) }
    var end: UInt64 = 0
    segments.removeAll { segment in
      if segment.range.lowerBound < end { return true }
      end = segment.range.upperBound
      return false
    }
  }

  private func readNotes(
    _ handle: OpaquePointer, _ program: GElf_Phdr, _ left: inout Int
  ) throws(InspectionError) {
    guard program.p_filesz <= InspectionLimits.noteBytes else { throw .beyondLimit(path: path, what: "notes") }
    guard program.p_offset <= size, program.p_filesz <= size - program.p_offset else {
      isTruncated = true
      return
    }
    guard
      let data = elf_getdata_rawchunk(handle, Int64(program.p_offset), Int(program.p_filesz), ELF_T_NHDR),
      let bytes = data.pointee.d_buf
    else { return }
    let all = UnsafeRawBufferPointer(start: bytes, count: Int(data.pointee.d_size))
    var header = GElf_Nhdr()
    var (at, name, contents) = (0, 0, 0)
    while at < all.count {
      at = gelf_getnote(data, at, &header, &name, &contents)
      guard at > 0, contents <= all.count, Int(header.n_descsz) <= all.count - contents else { return }
      left -= 1
      guard left >= 0 else { throw .beyondLimit(path: path, what: "notes") }
      let note = UnsafeRawBufferPointer(rebasing: all[contents..<contents + Int(header.n_descsz)])
      switch header.n_type {
      case Self.threadStatus: addThread(CoreNote(note))
      case Self.threadPointer: addThreadPointer(CoreNote(note))
      case Self.mappedFiles: addFiles(CoreNote(note))
      case Self.auxiliaryVector: addVector(CoreNote(note))
      case Self.processStatus:
        guard let numbers = CoreNote(note).word(Self.processIDOffset) else { break }
        processID = Int32(truncatingIfNeeded: numbers)
        parentProcessID = Int32(truncatingIfNeeded: numbers >> 32)
      default: break
      }
    }
  }

  /// Kinds of notes (Linux, include/uapi/linux/elf.h).
  private static let threadStatus: UInt32 = 1
  private static let processStatus: UInt32 = 3
  private static let auxiliaryVector: UInt32 = 6
  private static let mappedFiles: UInt32 = 0x4649_4C45
  /// The thread pointer on arm64 (NT_ARM_TLS). It follows the status of its thread.
  private static let threadPointer: UInt32 = 0x401
  /// Key in the auxiliary vector for the address of the kernel's code (AT_SYSINFO_EHDR).
  private static let kernelCodeKey: UInt64 = 33
  /// Key for the size of a page (AT_PAGESZ).
  private static let pageSizeKey: UInt64 = 6
  /// Offsets in `elf_prstatus`, in bytes.
  private static let (threadIDOffset, registersOffset) = (32, 112)
  /// Byte offset in `elf_prpsinfo` of the process's number. The parent's number follows it.
  private static let processIDOffset = 24

  private func addThread(_ note: CoreNote) {
    let count = RegisterLayout(processor).count
    let registers = (0..<count).compactMap { note.word(Self.registersOffset + 8 * $0) }
    guard registers.count == count, let threadID = note.word(Self.threadIDOffset) else { return }
    threads.append(
      InspectedThread(threadID: Int32(truncatingIfNeeded: threadID), registers: registers, processor: processor))
  }

  private func addThreadPointer(_ note: CoreNote) {
    guard processor == .arm64, !threads.isEmpty, let pointer = note.word(0) else { return }
    threads[threads.count - 1].threadPointer = pointer
  }

  /// Reads the auxiliary vector: pairs of a key and its value.
  private func addVector(_ note: CoreNote) {
    var at = 0
    while let key = note.word(at), let value = note.word(at + 8), key != 0 {
      if key == Self.kernelCodeKey { kernelCode = value }
      if key == Self.pageSizeKey, TraceHeader.pageSizes.contains(where: { $0 == value }) { pageSize = value }
      at += 16
    }
  }

  /// Reads the list of mapped files: a count and the page size, then three words for each mapping, then the paths.
  private func addFiles(_ note: CoreNote) {
    guard let count = note.word(0), let page = note.word(8), count <= UInt64(note.count / 24) else { return }
    var name = 16 + 24 * Int(count)
    for index in 0..<Int(count) {
      let at = 16 + 24 * index
      guard let start = note.word(at), let end = note.word(at + 8), let pages = note.word(at + 16),
        let path = note.text(name)
      else { return }
      name += path.utf8Count + 1
      let (offset, overflow) = pages.multipliedReportingOverflow(by: page)
      guard start < end, !overflow else { continue }
      files.append((start..<end, BackingFile(path: path.text, offset: offset)))
    }
  }
}

/// The contents of one note. They are valid as long as the data of all notes exists.
private struct CoreNote {
  private let bytes: UnsafeRawBufferPointer

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var count: Int { bytes.count }

  func word(_ offset: Int) -> UInt64? {
    guard offset <= bytes.count - 8 else { return nil }
    return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// Returns the text from an offset to the next zero byte.
  func text(_ offset: Int) -> (text: String, utf8Count: Int)? {
    guard offset < bytes.count, let end = bytes[offset...].firstIndex(of: 0) else { return nil }
    return (String(decoding: bytes[offset..<end], as: UTF8.self), end - offset)
  }
}
