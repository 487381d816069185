// The entries of an ELF file's symbol table, as the file has them.

import CElfutils
import Glibc
import TraceReading

/// A section of type `SHT_SYMTAB` or `SHT_DYNSYM`, and the section with the names.
package struct SymbolSection {
  /// The end addresses of the sections with code, by section number.
  let codeSections: [UInt32: UInt64]

  /// Keeps the bytes of both sections alive.
  private let file: ElfFile
  private let entries: UnsafeRawBufferPointer
  private let names: UnsafeRawBufferPointer

  /// `nil` if the file has no such section, or if the file has no 64-bit addresses.
  package init?(_ file: ElfFile, type: Int32) {
    guard let (section, header) = file.section(ofType: type), let entries = Self.bytes(of: section),
      gelf_getclass(file.handle) == ELFCLASS64,
      let names = elf_getscn(file.handle, Int(header.sh_link)).flatMap(Self.bytes), names.count > 0,
      // The section's end must end the last name.
      names[names.count - 1] == 0
    else { return nil }
    (self.file, self.entries, self.names) = (file, entries, names)
    var ends: [UInt32: UInt64] = [:]
    file.forEachSection { section, header, _ in
      if header.sh_flags & GElf_Xword(SHF_EXECINSTR) != 0 {
        ends[UInt32(clamping: elf_ndxscn(section))] = header.sh_addr &+ header.sh_size
      }
      return true
    }
    codeSections = ends
  }

  private static func bytes(of section: OpaquePointer) -> UnsafeRawBufferPointer? {
    guard let data = elf_getdata(section, nil), let start = data.pointee.d_buf else { return nil }
    return UnsafeRawBufferPointer(start: start, count: Int(clamping: data.pointee.d_size))
  }

  /// Returns the name at an offset in the section with the names. The name ends with 0.
  func name(at offset: UInt32) -> UnsafePointer<CChar>? {
    guard Int(offset) < names.count else { return nil }
    return (names.baseAddress! + Int(offset)).assumingMemoryBound(to: CChar.self)
  }

  /// Calls `body` with each defined function, or with each defined variable. O(n)
  func forEach(_ subject: SymbolTable.Subject, _ body: (Elf64_Sym) -> Void) {
    let size = MemoryLayout<Elf64_Sym>.size
    for index in 0..<entries.count / size {
      let symbol = entries.loadUnaligned(fromByteOffset: index * size, as: Elf64_Sym.self)
      let kind = Int32(symbol.st_info & 15)
      switch subject {
      case .functions: guard kind == STT_FUNC || kind == STT_GNU_IFUNC || kind == STT_NOTYPE else { continue }
      case .variables: guard kind == STT_OBJECT, symbol.st_size > 0 else { continue }
      }
      guard symbol.st_name != 0, symbol.st_value != 0, symbol.st_shndx != SHN_UNDEF else { continue }
      if kind == STT_NOTYPE {
        // Untyped symbols include labels of assembly code, which name functions. Skip other untyped symbols: they name
        // sections, or mark changes between code and data.
        guard codeSections[UInt32(symbol.st_shndx)] != nil, isFunctionLabel(symbol) else { continue }
      }
      body(symbol)
    }
  }

  /// Returns the lowest address of a function or variable with a name. O(n)
  package func address(of name: String, _ subject: SymbolTable.Subject) -> LinkAddress? {
    var found: UInt64?
    name.withCString { name in
      forEach(subject) { symbol in
        if let other = self.name(at: symbol.st_name), strcmp(other, name) == 0 {
          found = min(found ?? .max, symbol.st_value)
        }
      }
    }
    return found.map { LinkAddress($0) }
  }

  private func isFunctionLabel(_ symbol: Elf64_Sym) -> Bool {
    guard let name = name(at: symbol.st_name) else { return false }
    if name[0] == CChar(bitPattern: UInt8(ascii: ".")) { return false }
    // Symbols such as "$x" and "$d", alone or followed by a dot, mark changes between code and data.
    if name[0] == CChar(bitPattern: UInt8(ascii: "$")), name[1] != 0,
      name[2] == 0 || name[2] == CChar(bitPattern: UInt8(ascii: "."))
    {
      return false
    }
    return true
  }
}

/// Finds names in a list by their hashes.
struct NameIndex {
  /// The first place in the list for each slot of the hash table, counted from 1. 0 means that the slot is free.
  private var slots: [UInt32] = []
  private let mask: Int

  /// Hashes the names of a list. O(length of all names)
  init(count: Int, name: (Int) -> UnsafePointer<CChar>?) {
    var capacity = 16
    while capacity < 2 * count { capacity *= 2 }
    slots = [UInt32](repeating: 0, count: capacity)
    mask = capacity - 1
    for index in 0..<count {
      guard let text = name(index) else { continue }
      var slot = Self.hash(text) & mask
      while slots[slot] != 0 { slot = (slot + 1) & mask }
      slots[slot] = UInt32(index + 1)
    }
  }

  /// Returns the first place in the list that has a name; nil if there is none. `name` must return the same names as in
  /// the initialiser.
  func index(of wanted: UnsafePointer<CChar>, name: (Int) -> UnsafePointer<CChar>?) -> Int? {
    var slot = Self.hash(wanted) & mask
    while slots[slot] != 0 {
      let index = Int(slots[slot]) - 1
      // Equal names are in the order of the list.
      if let text = name(index), strcmp(text, wanted) == 0 { return index }
      slot = (slot + 1) & mask
    }
    return nil
  }

  /// FNV-1a, with 64 bits.
  private static func hash(_ text: UnsafePointer<CChar>) -> Int {
    var (hash, at): (UInt64, Int) = (0xCBF2_9CE4_8422_2325, 0)
    while text[at] != 0 {
      hash = (hash ^ UInt64(UInt8(bitPattern: text[at]))) &* 0x0000_0100_0000_01B3
      at += 1
    }
    return Int(truncatingIfNeeded: hash ^ hash >> 32) & Int.max
  }
}
