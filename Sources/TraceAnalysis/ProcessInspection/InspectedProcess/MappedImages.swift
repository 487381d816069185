// Finds the ELF images that a process has loaded, using only its memory.

import CElfutils
import CHeapScan
import Glibc
import TraceReading

/// A loaded image of a process, with facts that a trace does not have.
struct MappedImage: Hashable {
  var image: LoadedImage
  /// Bytes of the image's thread-local variables in each thread, including alignment.
  var threadLocalBytes: UInt64
  /// The address of the image's unwind table (`.eh_frame_hdr`); nil if it has none.
  var unwindTable: UInt64?
}

/// Finds loaded images. An image begins where a file's first byte is mapped. The code that the kernel maps is an image
/// without a file.
enum MappedImages {
  /// Maximum number of images in a process. The loader itself is limited only by the number of mappings.
  private static let limit = 1 << 16
  /// The size of an image's beginning that contains its program headers, with every linker.
  private static let headerBytes = 4096
  /// The number of note bytes that are searched for the build ID. A linker's note has 36 bytes, and other notes may
  /// precede it.
  private static let noteBytes = 1 << 12

  /// The name that the loader and debuggers use for the code that the kernel maps into every process.
  private static let kernelsImage = "[vdso]"

  /// Returns the loaded images in order of addresses.
  static func images(in process: any ProcessMemory) -> [MappedImage] {
    var found: [MappedImage] = []
    for mapping in process.mappings where mapping.isReadable && found.count < limit {
      guard !mapping.isShared else { continue }
      if let file = mapping.file {
        guard file.offset == 0 else { continue }
        if let image = image(at: mapping.range.lowerBound, path: file.path, process) { found.append(image) }
      } else if mapping.isExecutable, !mapping.isWritable,
        let image = image(at: mapping.range.lowerBound, path: kernelsImage, process)
      {
        // This is the kernel's own code, which has no file.
        found.append(image)
      }
    }
    return found
  }

  private static func image(at start: UInt64, path: String, _ process: any ProcessMemory) -> MappedImage? {
    let header = process.bytes(at: start, count: headerBytes)
    guard header.starts(with: [0x7F, 0x45, 0x4C, 0x46]) else { return nil }
    let programs = programHeaders(header)
    let page = process.pageSize
    let loads = programs.filter { $0.p_type == PT_LOAD && $0.p_memsz > 0 }
    guard let first = loads.first(where: { $0.p_offset < page }) else { return nil }
    let bias = start &- (first.p_vaddr & ~(page - 1))
    var low = UInt64.max
    var high: UInt64 = 0
    for load in loads {
      let (begin, end) = (bias &+ (load.p_vaddr & ~(page - 1)), bias &+ load.p_vaddr &+ load.p_memsz)
      guard begin < end, end <= RuntimeAddress.limit else { return nil }
      low = min(low, begin)
      high = max(high, end)
    }
    guard low == start else { return nil }
    var buildID: [UInt8] = []
    for note in programs where note.p_type == PT_NOTE && buildID.isEmpty {
      buildID = Self.buildID(
        inNotes: process.bytes(at: bias &+ note.p_vaddr, count: Int(min(note.p_filesz, UInt64(noteBytes)))))
    }
    let table = programs.first { $0.p_type == PT_GNU_EH_FRAME }.map { bias &+ $0.p_vaddr }
    let threadLocal = programs.first { $0.p_type == PT_TLS }
    return MappedImage(
      image: LoadedImage(
        path: path, buildID: buildID, loadBias: bias,
        range: RuntimeAddress(low)..<RuntimeAddress((high.roundedUp(to: page) ?? high))),
      threadLocalBytes: threadLocal.map { min($0.p_memsz, 1 << 24) + min($0.p_align, page) } ?? 0,
      unwindTable: table)
  }

  /// Returns the program headers in the first bytes of an ELF file or a loaded image; empty if there are none.
  static func programHeaders(_ header: [UInt8]) -> [GElf_Phdr] {
    _ = elf_version(UInt32(EV_CURRENT))
    // libelf may write to the bytes when it changes the byte order.
    var bytes = header.map { CChar(bitPattern: $0) }
    return bytes.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress, let handle = elf_memory(base, buffer.count) else { return [] }
      defer { elf_end(handle) }
      var count = 0
      guard elf_getphdrnum(handle, &count) == 0 else { return [] }
      return (0..<min(count, headerBytes / MemoryLayout<GElf_Phdr>.size)).compactMap { index in
        var program = GElf_Phdr()
        return gelf_getphdr(handle, Int32(index), &program) != nil ? program : nil
      }
    }
  }

  /// Returns the build ID from a list of notes. Each note has three words: the length of the name, the length of the
  /// contents, and the kind. Then come name and contents, each padded to 4 bytes.
  static func buildID(inNotes notes: [UInt8]) -> [UInt8] {
    func half(_ at: Int) -> Int {
      notes.withUnsafeBytes { Int(UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: at, as: UInt32.self))) }
    }
    var at = 0
    while at + 12 <= notes.count {
      let (nameLength, length, kind) = (half(at), half(at + 4), half(at + 8))
      let contents = at + 12 + (nameLength + 3) & ~3
      guard length <= notes.count, contents + length <= notes.count else { return [] }
      if kind == NT_GNU_BUILD_ID, notes[(at + 12)...].starts(with: [0x47, 0x4E, 0x55, 0]) {
        return Array(notes[contents..<contents + length])
      }
      at = contents + (length + 3) & ~3
    }
    return []
  }
}
