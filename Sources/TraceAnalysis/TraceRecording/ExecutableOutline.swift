// The properties of an ELF file that decide whether it can be traced, read from its headers.

import TraceReading

/// The properties of a 64-bit little-endian ELF file that decide whether and how it can be traced.
package struct ExecutableOutline: Hashable, Sendable {
  /// ELF e_machine: 62 is x86-64, 183 is AArch64.
  package var machine: UInt16
  /// ELF e_type: 2 is a program at fixed addresses, 3 a shared object or position-independent program.
  var fileType: UInt16
  /// The path of the loader in PT_INTERP; nil in static programs, shared libraries and loaders.
  package var loader: String?
  /// The names of the libraries that the file needs directly.
  var neededLibraries: [String]
  /// DT_SONAME; nil in most programs.
  package var ownName: String?
  /// Empty if the section headers were removed.
  package var sectionNames: Set<String>

  /// True if the file contains code from the Swift compiler.
  var hasSwiftCode: Bool { sectionNames.contains { $0.hasPrefix("swift5_") } }
  /// True if the Swift runtime is inside the file, for example because of `-static-stdlib`.
  package var containsSwiftRuntime: Bool {
    hasSwiftCode && !neededLibraries.contains { $0.hasPrefix("libswiftCore.") }
  }
  var hasSymbolTable: Bool { sectionNames.contains(".symtab") }
}

/// The kind of a file, determined from its first bytes.
package enum ExecutableKind: Hashable, Sendable {
  case elf(ExecutableOutline)
  case elfOfOtherClass
  case elfOfOtherByteOrder(machine: UInt16)
  /// A file that begins with `#!`, with the interpreter and an optional argument.
  case script(interpreter: String, argument: String?)
  case unknown
}

extension ExecutableKind {
  /// Reads the headers of a file.
  ///
  /// - Returns: Nil if the file cannot be opened.
  /// - Throws: `RecordingError.damagedExecutable`.
  /// - Complexity: Linear in the number of program and section headers, which is bounded.
  package static func read(path: String) throws(RecordingError) -> ExecutableKind? {
    guard let file = ReadOnlyFile(path: path) else { return nil }
    let start = file.bytes(at: 0, count: 256)
    if start.starts(with: [0x23, 0x21]) { return script(firstBytes: start) }
    guard start.starts(with: [0x7F, 0x45, 0x4C, 0x46]) else { return .unknown }
    guard start.count >= 20 else { throw .damagedExecutable(path: path, offset: FileOffset(UInt64(start.count))) }
    if start[5] == 2 { return .elfOfOtherByteOrder(machine: UInt16(start[18]) << 8 | UInt16(start[19])) }
    guard start[4] == 2 else { return .elfOfOtherClass }
    return .elf(try ElfHeaderReader(path: path).outline(of: file))
  }

  private static func script(firstBytes: [UInt8]) -> ExecutableKind {
    // Like the kernel, splits the rest of the first line at its first blank: into the interpreter, and a single
    // argument.
    let line = firstBytes.dropFirst(2).prefix { $0 != 0x0A && $0 != 0 }
    let text = String(decoding: line, as: UTF8.self)
    let parts = text.drop { $0 == " " || $0 == "\t" }
    let interpreter = parts.prefix { $0 != " " && $0 != "\t" }
    guard !interpreter.isEmpty else { return .unknown }
    var argument = parts.dropFirst(interpreter.count).drop { $0 == " " || $0 == "\t" }
    while let last = argument.last, last == " " || last == "\t" { argument.removeLast() }
    return .script(interpreter: String(interpreter), argument: argument.isEmpty ? nil : String(argument))
  }
}

/// Reads the header tables of a 64-bit little-endian ELF file. Checks every number in it.
private struct ElfHeaderReader {
  let path: String
  private static let maximumTable = 1 << 22

  func outline(of file: borrowing ReadOnlyFile) throws(RecordingError) -> ExecutableOutline {
    let header = try read(file, 0, 64)
    var outline = ExecutableOutline(
      machine: header.u16(18), fileType: header.u16(16), loader: nil, neededLibraries: [], ownName: nil,
      sectionNames: [])
    try readSegments(file, header, into: &outline)
    try readSections(file, header, into: &outline)
    return outline
  }

  private func readSegments(
    _ file: borrowing ReadOnlyFile, _ header: [UInt8], into outline: inout ExecutableOutline
  ) throws(RecordingError) {
    let tableOffset = header.u64(32), entrySize = Int(header.u16(54)), count = Int(header.u16(56))
    guard count > 0 else { return }
    guard entrySize >= 56 else { throw .damagedExecutable(path: path, offset: FileOffset(54)) }
    let table = try read(file, tableOffset, entrySize * count)
    var mappings: [(address: UInt64, offset: UInt64, size: UInt64)] = []
    var dynamic: (offset: UInt64, size: UInt64)?
    for index in 0..<count {
      let at = index * entrySize
      let offset = table.u64(at + 8), size = table.u64(at + 32)
      switch table.u32(at) {
      case 1: mappings.append((table.u64(at + 16), offset, size))
      case 2: dynamic = (offset, size)
      case 3: outline.loader = string(try read(file, offset, clamp(size, 4096)), 0)
      default: break
      }
    }
    guard let dynamic else { return }
    try readDynamic(file, dynamic.offset, dynamic.size, mappings, into: &outline)
  }

  private func readDynamic(
    _ file: borrowing ReadOnlyFile, _ offset: UInt64, _ size: UInt64,
    _ mappings: [(address: UInt64, offset: UInt64, size: UInt64)], into outline: inout ExecutableOutline
  ) throws(RecordingError) {
    let table = try read(file, offset, clamp(size, Self.maximumTable))
    var needed: [UInt64] = [], ownName: UInt64?, stringsAddress: UInt64?, stringsSize: UInt64 = 0
    entries: for at in stride(from: 0, to: table.count - 15, by: 16) {
      let value = table.u64(at + 8)
      switch table.u64(at) {
      case 0: break entries
      case 1: needed.append(value)
      case 5: stringsAddress = value
      case 10: stringsSize = value
      case 14: ownName = value
      default: break
      }
    }
    guard let stringsAddress,
      let mapping = mappings.first(where: { stringsAddress >= $0.address && stringsAddress - $0.address < $0.size })
    else { return }
    // The string table may be large, so only the needed names are read.
    func name(_ index: UInt64) -> String? {
      guard index < stringsSize else { return nil }
      let start = (stringsAddress - mapping.address).addingReportingOverflow(mapping.offset)
      let sum = start.partialValue.addingReportingOverflow(index)
      guard !start.overflow, !sum.overflow else { return nil }
      return string(file.bytes(at: sum.partialValue, count: 4096), 0)
    }
    outline.neededLibraries = needed.prefix(4096).compactMap(name)
    outline.ownName = ownName.flatMap(name)
  }

  private func readSections(
    _ file: borrowing ReadOnlyFile, _ header: [UInt8], into outline: inout ExecutableOutline
  ) throws(RecordingError) {
    let tableOffset = header.u64(40), entrySize = Int(header.u16(58)), count = Int(header.u16(60))
    let namesIndex = Int(header.u16(62))
    guard tableOffset != 0, count > 0, entrySize >= 64, namesIndex < count else { return }
    let table = try read(file, tableOffset, entrySize * count)
    let namesAt = namesIndex * entrySize
    let names = try read(file, table.u64(namesAt + 24), clamp(table.u64(namesAt + 32), Self.maximumTable))
    for index in 0..<count {
      if let name = string(names, Int(table.u32(index * entrySize))) { outline.sectionNames.insert(name) }
    }
  }

  private func read(_ file: borrowing ReadOnlyFile, _ offset: UInt64, _ count: Int) throws(RecordingError) -> [UInt8] {
    let bytes = file.bytes(at: offset, count: count)
    guard bytes.count == count else { throw .damagedExecutable(path: path, offset: FileOffset(offset)) }
    return bytes
  }

  private func clamp(_ size: UInt64, _ limit: Int) -> Int { Int(min(size, UInt64(limit))) }

  private func string(_ bytes: [UInt8], _ start: Int) -> String? {
    guard start < bytes.count else { return nil }
    return String(decoding: bytes[start...].prefix { $0 != 0 }, as: UTF8.self)
  }
}

extension [UInt8] {
  fileprivate func u16(_ at: Int) -> UInt16 { UInt16(self[at]) | UInt16(self[at + 1]) << 8 }
  fileprivate func u32(_ at: Int) -> UInt32 { UInt32(u16(at)) | UInt32(u16(at + 2)) << 16 }
  fileprivate func u64(_ at: Int) -> UInt64 { UInt64(u32(at)) | UInt64(u32(at + 4)) << 32 }
}
