// Presents the Swift reflection sections of loaded images to the mirror library as small ELF images.

import CElfutils
import CRemoteMirror

/// For each loaded image, an ELF header and section headers that the mirror library can read. The process itself has no
/// section headers in memory.
///
/// The library finds the sections of an ELF image through section headers, which have offsets from the start of the
/// image. So this type makes such headers, at addresses that no process uses. They list only the reflection sections,
/// at their addresses in the process.
struct ReflectionSections {
  private static let names: Set<String> = [
    "swift5_fieldmd", "swift5_assocty", "swift5_builtin", "swift5_capture", "swift5_typeref", "swift5_reflstr",
    "swift5_protocol_conformances",
    "swift5_mpenum",
  ]
  /// An address that is not canonical, so no process uses it.
  private static let firstHeader: UInt64 = 0x00F0_0000_0000_0000
  private static let headerSpacing: UInt64 = 1 << 20

  /// The address of the ELF header that this type made for each loaded image.
  private(set) var imageStarts: [UInt64] = []
  /// The headers and the sections, in order of address. They do not overlap.
  private(set) var regions: [lt_mirror_region] = []

  private struct Section {
    var name: String
    var flags: UInt64
    var address: UInt64
    var bytes: UnsafeRawBufferPointer
  }

  /// The caller must free the memory of the headers with `deallocate`.
  init(_ contents: ImageContents) {
    for image in contents.images {
      let sections = Self.sections(of: image)
      guard sections.contains(where: { $0.name == "swift5_fieldmd" || $0.name == "swift5_capture" }) else { continue }
      let start = Self.firstHeader + UInt64(imageStarts.count) * Self.headerSpacing
      let header = Self.header(naming: sections, at: start)
      guard header.count <= Int(Self.headerSpacing) else { continue }
      imageStarts.append(start)
      regions.append(lt_mirror_region(address: start, size: UInt64(header.count), bytes: header.baseAddress))
      for section in sections {
        regions.append(
          lt_mirror_region(
            address: section.address, size: UInt64(section.bytes.count), bytes: section.bytes.baseAddress))
      }
    }
    regions.sort { $0.address < $1.address }
    removeOverlaps()
  }

  func deallocate() {
    for region in regions where imageStarts.contains(region.address) {
      UnsafeMutableRawPointer(mutating: region.bytes)?.deallocate()
    }
  }

  /// Removes each section that overlaps a section at a lower address. Images in a corrupt trace may overlap.
  private mutating func removeOverlaps() {
    var end: UInt64 = 0
    regions.removeAll { region in
      let (regionEnd, overflow) = region.address.addingReportingOverflow(region.size)
      if overflow || region.address < end { return !imageStarts.contains(region.address) }
      end = regionEnd
      return false
    }
  }

  private static func sections(of image: ImageContents.Image) -> [Section] {
    var found: [Section] = []
    image.file.forEachSection { _, header, name in
      guard names.contains(name), header.sh_type != SHT_NOBITS, header.sh_flags & GElf_Xword(SHF_ALLOC) != 0,
        header.sh_size > 0,
        let bytes = image.file.bytes(at: header.sh_offset, count: header.sh_size), found.count < 64
      else { return true }
      let address = header.sh_addr &+ image.loaded.loadBias
      guard address < firstHeader, UInt64(bytes.count) < firstHeader - address else { return true }
      found.append(Section(name: name, flags: header.sh_flags, address: address, bytes: bytes))
      return true
    }
    return found
  }

  private static func header(naming sections: [Section], at start: UInt64) -> UnsafeRawBufferPointer {
    var names: [UInt8] = [0]
    var headers = [Elf64_Shdr()]
    for section in sections {
      var header = Elf64_Shdr()
      header.sh_name = Elf64_Word(names.count)
      header.sh_type = Elf64_Word(SHT_PROGBITS)
      header.sh_flags = section.flags
      header.sh_addr = section.address &- start
      header.sh_size = Elf64_Xword(section.bytes.count)
      headers.append(header)
      names += Array(section.name.utf8) + [0]
    }
    var table = Elf64_Shdr()
    table.sh_type = Elf64_Word(SHT_STRTAB)
    table.sh_size = Elf64_Xword(names.count)
    table.sh_offset = Elf64_Off(MemoryLayout<Elf64_Ehdr>.size + (headers.count + 1) * MemoryLayout<Elf64_Shdr>.stride)
    table.sh_addr = table.sh_offset
    headers.append(table)

    var file = Elf64_Ehdr()
    withUnsafeMutableBytes(of: &file.e_ident) { ident in
      ident.copyBytes(from: [
        0x7F, UInt8(ascii: "E"), UInt8(ascii: "L"), UInt8(ascii: "F"), UInt8(ELFCLASS64), UInt8(ELFDATA2LSB),
        UInt8(EV_CURRENT),
      ])
    }
    file.e_type = Elf64_Half(ET_DYN)
    file.e_machine = Elf64_Half(EM_X86_64)
    file.e_version = Elf64_Word(EV_CURRENT)
    file.e_ehsize = Elf64_Half(MemoryLayout<Elf64_Ehdr>.size)
    file.e_shoff = Elf64_Off(MemoryLayout<Elf64_Ehdr>.size)
    file.e_shentsize = Elf64_Half(MemoryLayout<Elf64_Shdr>.stride)
    file.e_shnum = Elf64_Half(headers.count)
    file.e_shstrndx = Elf64_Half(headers.count - 1)

    var bytes: [UInt8] = []
    withUnsafeBytes(of: file) { bytes += $0 }
    headers.withUnsafeBytes { bytes += $0 }
    bytes += names
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
    memory.copyBytes(from: bytes)
    return UnsafeRawBufferPointer(memory)
  }
}
