// Finds out from machine code whether a suspended function can reach the same suspension point again.

import CElfutils
import TraceReading

/// The loops of async functions.
///
/// The compiler splits an async function at its suspension points. Each part is a separate function. The symbol of a
/// part is the name of the whole function, followed by `TQ` or `TY`, a number and an underscore. A part that suspends
/// stores the address of the part that resumes. So a part is in a loop if it leads to code that uses the part's
/// address.
///
/// Code of x86-64 is not decoded. Instead, it is searched for 32-bit offsets and short jumps that lead exactly to the
/// start of a part. Code of arm64 has instructions of one size, so branches and computed addresses are decoded. Seen with
/// Swift 6.0.3 on arm64, and with 6.1.2 and 6.3.1 on x86-64, at -Onone and at -O. Source of the names: swiftlang/swift,
/// docs/ABI/Mangling.rst.
struct AsyncLoops {
  private let symbols: SymbolTable
  private let code: CodeBytes

  init(_ symbols: SymbolTable, code: CodeBytes) {
    (self.symbols, self.code) = (symbols, code)
  }

  /// Returns whether the part of a function at an address is in a loop. Nil if no part begins there, or if its code
  /// cannot be read. O(symbols + bytes of the function).
  func contains(partAt address: LinkAddress) -> Bool? {
    guard let name = symbols.name(at: address), let function = Self.function(ofPart: name) else { return nil }
    let parts = symbols.ranges(ofFunctionsWithPrefix: function).filter { found in
      found.name == function || Self.function(ofPart: found.name) == function
    }
    guard let start = parts.first(where: { $0.range.contains(address.rawValue) })?.range.lowerBound,
      start == address.rawValue
    else { return nil }
    let starts = Set(parts.map(\.range.lowerBound))
    var targets: [UInt64: Set<UInt64>] = [:]
    for part in parts {
      guard let bytes = code.bytes(in: part.range) else { return nil }
      targets[part.range.lowerBound] =
        code.isArm64
        ? Self.targetsOnArm64(in: bytes, at: part.range.lowerBound, among: starts)
        : Self.targets(in: bytes, at: part.range.lowerBound, among: starts)
    }
    var seen: Set<UInt64> = []
    var pending = [start]
    while let part = pending.popLast() {
      for target in targets[part] ?? [] where seen.insert(target).inserted { pending.append(target) }
    }
    return seen.contains(start)
  }

  /// Returns the name of the function that contains a part; nil if `name` is not the name of a part.
  static func function(ofPart name: String) -> String? {
    var rest = Substring(name)
    guard rest.popLast() == "_" else { return nil }
    let digits = rest.reversed().prefix { $0.isASCII && $0.isNumber }.count
    rest = rest.dropLast(digits)
    guard digits > 0, rest.hasSuffix("TQ") || rest.hasSuffix("TY") else { return nil }
    return String(rest.dropLast(2))
  }

  private static let shortJump: UInt8 = 0xEB

  /// Returns the addresses among `starts` that code refers to.
  private static func targets(
    in bytes: UnsafeRawBufferPointer, at address: UInt64, among starts: Set<UInt64>
  ) -> Set<UInt64> {
    var found: Set<UInt64> = []
    func note(_ target: UInt64) { if starts.contains(target) { found.insert(target) } }
    for index in bytes.indices {
      let place = address &+ UInt64(index)
      if index + 4 <= bytes.count {
        let offset = Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: Int32.self))
        note(place &+ 4 &+ UInt64(bitPattern: Int64(offset)))
      }
      if bytes[index] == shortJump, index + 2 <= bytes.count {
        note(place &+ 2 &+ UInt64(bitPattern: Int64(Int8(bitPattern: bytes[index + 1]))))
      }
    }
    return found
  }
}

extension AsyncLoops {
  /// Returns the addresses among `starts` that code of arm64 branches to or computes. An address is computed by ADR, or
  /// by ADRP and an ADD of the same register. Source: Arm Architecture Reference Manual, "A64 instruction set encoding".
  static func targetsOnArm64(
    in bytes: UnsafeRawBufferPointer, at address: UInt64, among starts: Set<UInt64>
  ) -> Set<UInt64> {
    var found: Set<UInt64> = []
    func note(_ target: UInt64) { if starts.contains(target) { found.insert(target) } }
    /// The pages that ADRP put into registers.
    var pages = [UInt64?](repeating: nil, count: 32)
    for index in stride(from: 0, through: bytes.count - 4, by: 4) {
      let place = address &+ UInt64(index)
      let instruction = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self))
      /// Returns the signed number in `count` bits from bit `low` on.
      func number(_ low: Int, _ count: Int) -> UInt64 {
        let bits = Int64(truncatingIfNeeded: instruction >> low) << (64 - count)
        return UInt64(bitPattern: bits >> (64 - count))
      }
      let register = Int(instruction & 31)
      if instruction & 0x7C00_0000 == 0x1400_0000 {  // B, BL
        note(place &+ number(0, 26) << 2)
      } else if instruction & 0xFF00_0010 == 0x5400_0000 || instruction & 0x7E00_0000 == 0x3400_0000 {
        note(place &+ number(5, 19) << 2)  // B.cond, CBZ, CBNZ
      } else if instruction & 0x7E00_0000 == 0x3600_0000 {  // TBZ, TBNZ
        note(place &+ number(5, 14) << 2)
      } else if instruction & 0x1F00_0000 == 0x1000_0000 {  // ADR, ADRP
        let distance = number(5, 19) << 2 | UInt64(instruction >> 29 & 3)
        if instruction >> 31 == 0 { note(place &+ distance) }
        pages[register] = instruction >> 31 == 0 ? nil : place & ~4095 &+ distance << 12
      } else if instruction & 0xFFC0_0000 == 0x9100_0000, let page = pages[Int(instruction >> 5 & 31)] {
        note(page &+ UInt64(instruction >> 10 & 4095))  // ADD of an immediate
      }
    }
    return found
  }
}

/// The code in a loaded image's own file. This value keeps the file open.
struct CodeBytes {
  /// False for x86-64.
  let isArm64: Bool
  private let file: ElfFile
  private let sections: [(range: Range<UInt64>, data: UnsafeMutablePointer<Elf_Data>)]

  /// Nil if the file is neither for x86-64 nor for arm64, or has no code.
  init?(_ file: ElfFile) {
    guard let processor = file.processor else { return nil }
    isArm64 = processor == .arm64
    var sections: [(range: Range<UInt64>, data: UnsafeMutablePointer<Elf_Data>)] = []
    file.forEachSection { section, header, _ in
      let (end, overflow) = header.sh_addr.addingReportingOverflow(header.sh_size)
      if header.sh_flags & GElf_Xword(SHF_EXECINSTR) != 0, header.sh_type == GElf_Word(SHT_PROGBITS), !overflow,
        header.sh_size > 0, let data = elf_getdata(section, nil), data.pointee.d_buf != nil
      {
        sections.append((header.sh_addr..<end, data))
      }
      return true
    }
    guard !sections.isEmpty else { return nil }
    (self.file, self.sections) = (file, sections)
  }

  /// Returns the bytes of code in a range of addresses; nil if the file does not have all of them.
  func bytes(in range: Range<UInt64>) -> UnsafeRawBufferPointer? {
    guard
      let section = sections.first(where: {
        $0.range.lowerBound <= range.lowerBound && range.upperBound <= $0.range.upperBound
      })
    else { return nil }
    let start = Int(clamping: range.lowerBound - section.range.lowerBound)
    guard Int(clamping: section.data.pointee.d_size) >= start + range.count else { return nil }
    return UnsafeRawBufferPointer(start: section.data.pointee.d_buf + start, count: range.count)
  }
}
