// One ELF file, read by libelf: its build ID, link to a separate debug file, executable ranges and sections.

import CElfutils
import TraceReading

/// An ELF file in memory. Its contents are not trusted: libelf checks every offset against the file's size.
///
/// For one thread at a time. Everything that libelf returns lives as long as this object.
package final class ElfFile {
  let path: String
  package let contents: SymbolFileContents
  package let handle: OpaquePointer
  /// The build ID; empty if there is none.
  package let buildID: [UInt8]
  /// Link addresses that may hold code. Empty if the file has no program headers.
  let executableRanges: [Range<UInt64>]

  package init(path: String, contents: SymbolFileContents) throws(SymbolFileError) {
    _ = elf_version(UInt32(EV_CURRENT))
    guard contents.bytes.count > Int(EI_NIDENT),
      let base = contents.bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
      let handle = elf_memory(base, contents.bytes.count)
    else { throw .notELF(offset: FileOffset(0)) }
    var header = GElf_Ehdr()
    guard elf_kind(handle) == ELF_K_ELF, gelf_getehdr(handle, &header) != nil, header.e_type != ET_REL else {
      elf_end(handle)
      throw .notELF(offset: FileOffset(0))
    }
    var headerCount = 0
    guard header.e_phnum == 0 || (elf_getphdrnum(handle, &headerCount) == 0 && Self.segmentCount(handle) == headerCount)
    else {
      elf_end(handle)
      throw .notELF(offset: FileOffset(header.e_phoff))
    }
    var sectionCount = 0
    if header.e_shoff != 0, elf_getshdrnum(handle, &sectionCount) != 0 || elf_getscn(handle, 0) == nil {
      elf_end(handle)
      throw .notELF(offset: FileOffset(header.e_shoff))
    }
    self.path = path
    self.contents = contents
    self.handle = handle
    buildID = Self.readBuildID(handle)
    executableRanges = Self.readExecutableRanges(handle)
  }

  deinit { elf_end(handle) }

  /// The processor of the file's code; nil for other processors than those that a trace may be from.
  package var processor: Processor? {
    var header = GElf_Ehdr()
    return gelf_getehdr(handle, &header) == nil ? nil : Processor(rawValue: header.e_machine)
  }

  private static func segmentCount(_ handle: OpaquePointer) -> Int {
    var count = 0
    _ = elf_getphdrnum(handle, &count)
    var header = GElf_Phdr()
    for index in 0..<count where gelf_getphdr(handle, Int32(clamping: index), &header) == nil { return index }
    return count
  }

  private static func readBuildID(_ handle: OpaquePointer) -> [UInt8] {
    var note: UnsafeRawPointer?
    let size = dwelf_elf_gnu_build_id(handle, &note)
    guard size > 0, let note else { return [] }
    return Array(UnsafeRawBufferPointer(start: note, count: size))
  }

  private static func readExecutableRanges(_ handle: OpaquePointer) -> [Range<UInt64>] {
    var ranges: [Range<UInt64>] = []
    var count = 0
    guard elf_getphdrnum(handle, &count) == 0 else { return [] }
    var header = GElf_Phdr()
    for index in 0..<count {
      guard gelf_getphdr(handle, Int32(clamping: index), &header) != nil else { break }
      guard header.p_type == PT_LOAD, header.p_flags & GElf_Word(PF_X) != 0 else { continue }
      let (end, overflow) = header.p_vaddr.addingReportingOverflow(header.p_memsz)
      if !overflow, header.p_memsz > 0 { ranges.append(header.p_vaddr..<end) }
    }
    return ranges
  }

  /// Returns whether code may be at an address. The linker leaves debug information of discarded code at address 0 or
  /// outside all code. Such debug information must be ignored, so that it does not hide other code.
  func mayHoldCode(_ address: UInt64) -> Bool {
    if address == 0 { return false }
    return executableRanges.isEmpty || executableRanges.contains { $0.contains(address) }
  }

  /// The separate debug file's name and checksum from `.gnu_debuglink`.
  var debugLink: (name: String, checksum: UInt32)? {
    var checksum: GElf_Word = 0
    guard let name = dwelf_elf_gnu_debuglink(handle, &checksum) else { return nil }
    let text = String(cString: name)
    // A link must be a bare file name: a path could lead out of the directories that are searched.
    guard !text.isEmpty, !text.utf8.contains(UInt8(ascii: "/")) else { return nil }
    return (text, checksum)
  }

  /// Calls `body` with each section, its header and its name, until it returns `false`.
  package func forEachSection(_ body: (OpaquePointer, GElf_Shdr, String) -> Bool) {
    var stringTable = 0
    guard elf_getshdrstrndx(handle, &stringTable) == 0 else { return }
    var section: OpaquePointer?
    while true {
      section = elf_nextscn(handle, section)
      guard let section else { return }
      var header = GElf_Shdr()
      guard gelf_getshdr(section, &header) != nil else { continue }
      let name = elf_strptr(handle, stringTable, Int(header.sh_name)).map { String(cString: $0) } ?? ""
      if !body(section, header, name) { return }
    }
  }

  /// Returns the first section of a type, such as `SHT_SYMTAB`. A section without contents in this file has the type
  /// `SHT_NOBITS` instead.
  func section(ofType type: Int32) -> (section: OpaquePointer, header: GElf_Shdr)? {
    var found: (OpaquePointer, GElf_Shdr)?
    forEachSection { section, header, _ in
      if header.sh_type == GElf_Word(type) { found = (section, header) }
      return found == nil
    }
    return found
  }

  /// True if the file has the code of its loaded image. A file with only debug information has the headers of such
  /// sections, but not their contents. O(sections)
  package var hasCode: Bool {
    var found = false
    forEachSection { _, header, _ in
      guard header.sh_flags & GElf_Xword(SHF_EXECINSTR) != 0 else { return true }
      found = header.sh_type != SHT_NOBITS
      return false
    }
    return found
  }

  /// True if the file itself contains DWARF, not only an empty section for it.
  var hasDebugInformation: Bool {
    var found = false
    forEachSection { _, header, name in
      found = (name == ".debug_info" || name == ".zdebug_info") && header.sh_type != SHT_NOBITS && header.sh_size > 0
      return !found
    }
    return found
  }
}
