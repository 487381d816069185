// Checks whether the files of a loaded image are available, without looking up an address.

import TraceReading

/// Looks for the files of loaded images as a symbolicator does.
package enum ImageFileCheck {
  /// Returns the problems that leave functions of a loaded image without name, file or line.
  ///
  /// - Complexity: Linear in the symbol table and the list of compilation units.
  package static func problems(of image: LoadedImage, search: DebugFileSearch) -> [ImageProblem] {
    ImageFiles(image, search: search, access: LocalSymbolFiles()).problems
  }
}

/// Names that an ELF file exports.
package enum ExportedNames {
  /// Bytes of an entry in a symbol table (`Elf64_Sym`).
  private static let entrySize = 24

  /// Returns the names in `wanted` that the file at a path defines for other files. Empty if it cannot be read.
  ///
  /// - Complexity: Linear in the number of the file's dynamic symbols.
  package static func defined(among wanted: Set<String>, inFile path: String) -> Set<String> {
    guard let contents = try? LocalSymbolFiles().contents(ofFile: path),
      let file = try? ElfFile(path: path, contents: contents)
    else { return [] }
    var table: Range<Int>?
    var names: Range<Int>?
    file.forEachSection { _, header, name in
      let range = Self.range(offset: header.sh_offset, size: header.sh_size, limit: contents.bytes.count)
      if name == ".dynsym" { table = range }
      if name == ".dynstr" { names = range }
      return table == nil || names == nil
    }
    guard let table, let names else { return [] }
    var found: Set<String> = []
    let bytes = UnsafeRawBufferPointer(contents.bytes)
    for entry in stride(from: table.lowerBound, to: table.upperBound - entrySize + 1, by: entrySize) {
      // An entry begins with 4 bytes of st_name. Byte 6 is st_shndx, which is 0 for a symbol of another file.
      let at = Int(bytes.loadUnaligned(fromByteOffset: entry, as: UInt32.self))
      guard bytes.loadUnaligned(fromByteOffset: entry + 6, as: UInt16.self) != 0, at < names.count else { continue }
      let name = bytes[(names.lowerBound + at)..<names.upperBound].prefix { $0 != 0 }
      let text = String(decoding: name, as: UTF8.self)
      if wanted.contains(text) { found.insert(text) }
    }
    return found
  }

  private static func range(offset: UInt64, size: UInt64, limit: Int) -> Range<Int>? {
    guard size <= UInt64(limit), offset <= UInt64(limit) - size else { return nil }
    return Int(offset)..<Int(offset + size)
  }
}
