// The contents of loaded images (the executable and the libraries), from their files.

import CElfutils
import TraceReading
import TraceSymbolication

/// The bytes that were mapped from files into the traced process.
///
/// A file is skipped if its build ID differs from the loaded image's build ID. For one thread at a time.
package final class ImageContents {
  /// One loaded image and its file.
  struct Image {
    let loaded: LoadedImage
    let file: ElfFile

    /// Returns the address of a variable or function in a symbol table, `SHT_DYNSYM` or `SHT_SYMTAB`. Linear in the
    /// table.
    func address(of name: String, _ subject: SymbolTable.Subject, in table: Int32) -> UInt64? {
      SymbolSection(file, type: table)?.address(of: name, subject).map {
        $0.rawValue &+ loaded.loadBias
      }
    }
  }

  /// A part of memory that was mapped from a file. It begins with `fileBytes`; the rest is 0.
  private struct Segment {
    var range: Range<UInt64>
    var fileBytes: UnsafeRawBufferPointer
  }

  /// The maximum number of loaded images whose files are opened. Real processes have at most a few hundred.
  private static let limit = 1024

  let images: [Image]
  /// The processor of the images; nil if no file was found, or for other processors.
  var processor: Processor? { images.lazy.compactMap(\.file.processor).first }
  private var segments: [Segment] = []

  /// Opens the files of the loaded images. O(program headers).
  package init(
    _ images: [LoadedImage], search: DebugFileSearch = DebugFileSearch(),
    access: any SymbolFileAccess = LocalSymbolFiles()
  ) {
    // A file with several paths is opened once.
    struct Place: Hashable {
      var path: String
      var buildID: [UInt8]
    }
    var files: [Place: ElfFile?] = [:]
    self.images = images.prefix(Self.limit).compactMap { image in
      let place = Place(
        path: access.canonicalPath(ofFile: search.localPath(ofImage: image.path)), buildID: image.buildID)
      let file = files[place] ?? Self.file(of: image, search: search, access: access)
      files[place] = .some(file)
      return file.map { Image(loaded: image, file: $0) }
    }
    for image in self.images { addSegments(of: image) }
    segments.sort { $0.range.lowerBound < $1.range.lowerBound }
  }

  /// Returns the image's own file. A file with only debug information is not accepted.
  private static func file(of image: LoadedImage, search: DebugFileSearch, access: any SymbolFileAccess) -> ElfFile? {
    var tried: Set<String> = []
    let candidates = search.paths(ofImage: image.path, buildID: image.buildID)
    func file(at path: String) -> ElfFile? {
      guard let contents = try? access.contents(ofFile: path), let file = try? ElfFile(path: path, contents: contents),
        image.buildID.isEmpty || file.buildID == image.buildID, file.hasCode
      else { return nil }
      return file
    }
    for path in candidates where tried.insert(path).inserted {
      if let file = file(at: path) { return file }
    }
    return DebugFileServers.fetchedPath(of: .program, image: image.path, buildID: image.buildID).flatMap(file)
  }

  private func addSegments(of image: Image) {
    var count = 0
    guard elf_getphdrnum(image.file.handle, &count) == 0 else { return }
    var header = GElf_Phdr()
    for index in 0..<count {
      guard gelf_getphdr(image.file.handle, Int32(clamping: index), &header) != nil else { break }
      guard header.p_type == PT_LOAD, header.p_memsz > 0, header.p_filesz <= header.p_memsz,
        let bytes = image.file.bytes(at: header.p_offset, count: header.p_filesz)
      else { continue }
      let start = header.p_vaddr &+ image.loaded.loadBias
      let (end, overflow) = start.addingReportingOverflow(header.p_memsz)
      // The trace has the loaded image's address range. Skip segments of the file outside this range.
      guard !overflow, start >= image.loaded.range.lowerBound.rawValue & ~4095,
        header.p_memsz <= 1 << 40, end <= image.loaded.range.upperBound.rawValue &+ 4096
      else { continue }
      segments.append(Segment(range: start..<end, fileBytes: bytes))
    }
  }

  /// Returns the word at an address, which must be a multiple of 8; `nil` if no loaded image is there. O(log images).
  func word(at address: RuntimeAddress) -> UInt64? {
    let at = address.rawValue
    guard let segment = segment(containing: at) ?? segment(containing: at &+ 7) else { return nil }
    var word: UInt64 = 0
    withUnsafeMutableBytes(of: &word) { bytes in
      for index in 0..<8 {
        let offset = Int(truncatingIfNeeded: at &+ UInt64(index) &- segment.range.lowerBound)
        if segment.fileBytes.indices.contains(offset) { bytes[index] = segment.fileBytes[offset] }
      }
    }
    return UInt64(littleEndian: word)
  }

  private func segment(containing address: UInt64) -> Segment? {
    var low = 0
    var high = segments.count
    while low < high {
      let middle = (low + high) / 2
      if segments[middle].range.lowerBound <= address { low = middle + 1 } else { high = middle }
    }
    guard low > 0, segments[low - 1].range.contains(address) else { return nil }
    return segments[low - 1]
  }
}

extension ElfFile {
  /// Returns a part of the file; `nil` if the part extends beyond the file.
  func bytes(at offset: UInt64, count: UInt64) -> UnsafeRawBufferPointer? {
    let all = UnsafeRawBufferPointer(contents.bytes)
    guard count <= UInt64(all.count), offset <= UInt64(all.count) - count else { return nil }
    return UnsafeRawBufferPointer(rebasing: all[Int(offset)..<Int(offset + count)])
  }
}
