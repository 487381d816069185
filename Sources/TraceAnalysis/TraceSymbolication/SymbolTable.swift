// Finds the symbol that covers a link address.

import CElfutils
import Glibc
import TraceReading

/// The function symbols or the variable symbols of an ELF file, including local symbols, sorted by address.
///
/// The initialiser is O(n log n) in the number of symbols. A look-up by address is O(log n). The first look-up by name
/// is O(n), and later ones take constant time. Names are read from the file only when they are looked up.
package final class SymbolTable {
  private struct Symbol {
    var address: UInt64
    var size: UInt64
    var section: UInt32
    var name: UInt32
    /// If several symbols have the same address, the symbol with the highest rank is used.
    var rank: UInt8
  }

  private let section: SymbolSection
  private let names: [UInt32]
  private let addresses: [UInt64]
  private let sizes: [UInt64]
  private let map: AddressMap

  /// The kind of symbols that a table has.
  package enum Subject { case functions, variables }

  /// Reads a table of type `SHT_SYMTAB` or `SHT_DYNSYM`. `nil` if the file has no such table, or if the table has no
  /// symbols of the kind.
  package init?(_ file: ElfFile, sectionType: Int32, subject: Subject = .functions) {
    guard let section = SymbolSection(file, type: sectionType) else { return nil }
    let codeSections = section.codeSections
    var symbols: [Symbol] = []
    section.forEach(subject) { raw in
      let kind = Int32(raw.st_info & 15)
      symbols.append(
        Symbol(
          address: raw.st_value, size: raw.st_size, section: UInt32(raw.st_shndx), name: raw.st_name,
          rank: Self.rank(kind: kind, binding: Int32(raw.st_info >> 4), size: raw.st_size)))
    }
    guard !symbols.isEmpty else { return nil }
    symbols.sort {
      if $0.address != $1.address { return $0.address < $1.address }
      if $0.rank != $1.rank { return $0.rank < $1.rank }
      return $0.name > $1.name
    }
    var entries: [AddressMap.Entry] = []
    entries.reserveCapacity(symbols.count)
    var next = symbols.count
    for index in symbols.indices.reversed() {
      let symbol = symbols[index]
      if index + 1 < symbols.count, symbols[index + 1].address != symbol.address { next = index + 1 }
      var end = symbol.address &+ symbol.size
      if symbol.size == 0 {
        // The symbol covers the code up to the next symbol or the section's end. A symbol with a size at the same
        // address takes precedence.
        let sectionEnd = codeSections[symbol.section] ?? .max
        end =
          next < symbols.count
          ? min(symbols[next].address, max(sectionEnd, symbol.address))
          : sectionEnd == .max ? symbol.address : sectionEnd
      }
      guard end > symbol.address else { continue }
      entries.append(.init(start: symbol.address, end: end, value: index))
    }
    entries.reverse()
    guard !entries.isEmpty else { return nil }
    self.section = section
    // A key path would be projected at run time for each symbol.
    names = symbols.map { $0.name }
    addresses = symbols.map { $0.address }
    sizes = symbols.map { $0.size }
    map = AddressMap(entries)
  }

  /// Returns the name of the function whose code includes `address`, or of the variable whose storage includes it.
  func name(at address: LinkAddress) -> String? {
    guard let index = map.value(at: address.rawValue) else { return nil }
    guard let name = section.name(at: names[index]), name.pointee != 0 else { return nil }
    return String(cString: name)
  }

  /// Returns the address of the function or variable with the given name. O(n) on the first call.
  package func address(of name: String) -> LinkAddress? {
    name.withCString { name in
      indices.index(of: name) { section.name(at: names[$0]) }.map { LinkAddress(addresses[$0]) }
    }
  }

  /// The symbols by name.
  private lazy var indices = NameIndex(count: names.count) { section.name(at: names[$0]) }

  /// Returns the functions of known size whose names begin with a text. O(n).
  func ranges(ofFunctionsWithPrefix prefix: String) -> [(name: String, range: Range<UInt64>)] {
    let length = prefix.utf8.count
    return prefix.withCString { prefix in
      names.indices.compactMap { index in
        guard let name = section.name(at: names[index]), strncmp(name, prefix, length) == 0
        else { return nil }
        let (end, overflow) = addresses[index].addingReportingOverflow(sizes[index])
        return overflow || sizes[index] == 0 ? nil : (String(cString: name), addresses[index]..<end)
      }
    }
  }

  /// Hashes of the names of Swift functions, accessors and closures. Leaves out thunks and other functions that the
  /// compiler makes. O(n).
  var functionHashes: Set<UInt32> {
    var hashes: Set<UInt32> = []
    for offset in names {
      guard let name = section.name(at: offset) else { continue }
      let text = UnsafeBufferPointer(start: name, count: strlen(name))
      if Self.isSwiftFunction(text) { hashes.insert(SymbolHash.of(text.lazy.map { UInt8(bitPattern: $0) })) }
    }
    return hashes
  }

  /// Returns whether a symbol is a Swift function, by the last letters of its mangled name.
  private static func isSwiftFunction(_ name: UnsafeBufferPointer<CChar>) -> Bool {
    guard name.count > 4, name[0] == CChar(bitPattern: UInt8(ascii: "$")),
      name[1] == CChar(bitPattern: UInt8(ascii: "s"))
    else { return false }
    var end = name.count - 1
    if name[end] == CChar(bitPattern: UInt8(ascii: "Z")) { end -= 1 }
    switch (UInt8(bitPattern: name[end - 1]), UInt8(bitPattern: name[end])) {
    case (_, UInt8(ascii: "F")), (UInt8(ascii: "f"), UInt8(ascii: "C")), (UInt8(ascii: "f"), UInt8(ascii: "c")),
      (UInt8(ascii: "f"), UInt8(ascii: "D")),
      (UInt8(ascii: "f"), UInt8(ascii: "d")), (UInt8(ascii: "v"), UInt8(ascii: "g")),
      (UInt8(ascii: "v"), UInt8(ascii: "s")), (_, UInt8(ascii: "_")):
      return true
    default: return false
    }
  }

  private static func rank(kind: Int32, binding: Int32, size: UInt64) -> UInt8 {
    let byKind: UInt8 = kind == STT_NOTYPE ? 0 : 8
    let bySize: UInt8 = size == 0 ? 0 : 4
    let byBinding: UInt8 = binding == STB_GLOBAL ? 2 : binding == STB_WEAK ? 1 : 0
    return byKind + bySize + byBinding
  }
}

/// A 32-bit FNV-1a hash of a function's mangled name. The hashes of a build show whether the build has a function.
/// About one answer in a few hundred thousand is wrong.
package enum SymbolHash {
  package static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
    var hash: UInt32 = 0x811C_9DC5
    for byte in bytes { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
    return hash
  }
}
