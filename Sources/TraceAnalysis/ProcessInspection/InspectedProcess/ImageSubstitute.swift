// A file on this machine that provides the bytes that a core leaves out.

import CElfutils
import TraceReading
import TraceSymbolication

/// The file that was mapped, or a copy of it. A file is used only if its build ID proves that it has the same contents.
struct ImageSubstitute {
  private let contents: SymbolFileContents
  /// Ranges of offsets in the file that the loader maps as code.
  private let code: [Range<UInt64>]

  /// Returns nil if there is no such file, or no proof that it is the file that was mapped.
  ///
  /// - Parameters:
  ///   - path: The path of the file in the process.
  ///   - header: The first bytes of the mapping, from the core.
  ///   - pageSize: Bytes of a page of the process.
  ///   - search: The places where the file may be.
  init?(path: String, header: [UInt8], pageSize: UInt64, _ search: DebugFileSearch, _ files: any SymbolFileAccess) {
    let mapped = Self.buildID(header: header)
    guard !mapped.isEmpty else { return nil }
    let usual = search.localPath(ofImage: path)
    for candidate in search.paths(ofImage: path, buildID: mapped) {
      // A debug file has the same build ID, but lacks the contents. No debug file is at the image's usual path.
      guard let contents = try? files.contents(ofFile: candidate),
        let file = try? ElfFile(path: candidate, contents: contents), file.buildID == mapped,
        candidate == usual || file.hasCode
      else { continue }
      self.contents = contents
      code = Self.codeRanges(contents, page: pageSize)
      return
    }
    return nil
  }

  /// Returns whether the loader maps the page at this offset of the file as code.
  func hasCode(at offset: UInt64) -> Bool { code.contains { $0.contains(offset) } }

  private static func codeRanges(_ contents: SymbolFileContents, page: UInt64) -> [Range<UInt64>] {
    MappedImages.programHeaders(Array(contents.bytes.prefix(InspectionLimits.imageHeaderBytes))).compactMap {
      guard $0.p_type == PT_LOAD, $0.p_flags & 1 != 0 else { return nil }
      let (begin, (end, overflow)) = ($0.p_offset & ~(page - 1), $0.p_offset.addingReportingOverflow($0.p_filesz))
      return overflow || end <= begin ? nil : begin..<end
    }
  }

  /// Returns the file's bytes from `offset + count` on; nil if the file has none there.
  func bytes(from offset: UInt64, skipping count: UInt64) -> UnsafeRawBufferPointer? {
    let (start, overflow) = offset.addingReportingOverflow(count)
    guard !overflow, start < UInt64(contents.bytes.count) else { return nil }
    return UnsafeRawBufferPointer(rebasing: contents.bytes[Int(start)...])
  }

  func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard offset < UInt64(contents.bytes.count) else { return 0 }
    let count = min(buffer.count, contents.bytes.count - Int(offset))
    buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: contents.bytes[Int(offset)..<Int(offset) + count]))
    return count
  }

  /// Returns the build ID in a loaded image's first page; empty if the page has none. O(header)
  static func buildID(header: [UInt8]) -> [UInt8] {
    _ = elf_version(UInt32(EV_CURRENT))
    // libelf may write to the bytes when it changes the byte order.
    var bytes = header.map { CChar(bitPattern: $0) }
    return bytes.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress, let handle = elf_memory(base, buffer.count) else { return [] }
      defer { elf_end(handle) }
      var note: UnsafeRawPointer?
      let size = dwelf_elf_gnu_build_id(handle, &note)
      guard size > 0, let note else { return [] }
      return Array(UnsafeRawBufferPointer(start: note, count: size))
    }
  }
}
