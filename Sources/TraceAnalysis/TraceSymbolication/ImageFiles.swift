// Finds, checks and opens the files that belong to one loaded image.

import CElfutils
import TextWriting
import TraceReading

/// The files of a loaded image that pass the checks, and the problems with other files. Each part of the files is read
/// when it is first needed. For one thread at a time.
final class ImageFiles {
  /// Linear in the symbol table on the first use.
  private(set) lazy var symbols = firstTable(.functions)
  private(set) lazy var variables = firstTable(.variables)
  private(set) lazy var code = main.flatMap { CodeBytes($0) }
  /// Linear in the list of compilation units on the first use. If the sections are compressed, the first use takes much
  /// longer.
  private(set) lazy var debugInformation = readDebugInformation()
  /// The problems that leave addresses without a name, a file or a line. Reads all parts.
  private(set) lazy var problems = isVirtual ? [] : findProblems()

  /// The image's own file.
  private var main: ElfFile?
  /// The image's own file, if it is there, and the separate files with symbols or debug information.
  private var files: [ElfFile] = []
  private let isVirtual: Bool

  private let image: LoadedImage
  private let search: DebugFileSearch
  private let access: any SymbolFileAccess
  /// The first problem with a file. It is reported only if no other file can be used instead.
  private var failure: (file: String?, reason: ImageProblem.Reason)?

  /// The check that a candidate must pass.
  private enum Trust {
    /// A build ID must match, if the trace has one.
    case buildID
    /// The checksum of a debug link must match, and build IDs must not contradict each other.
    case checksum(UInt32)
  }

  /// Searches and opens the files. Linear in the sections.
  init(_ image: LoadedImage, search: DebugFileSearch, access: any SymbolFileAccess) {
    self.image = image
    self.search = search
    self.access = access
    isVirtual = false
    let localPath = search.localPath(ofImage: image.path)
    main =
      open(localPath, expecting: image.buildID, trust: .buildID)
      ?? fetched(.program, image.buildID)
    let buildID = image.buildID.isEmpty ? main?.buildID ?? [] : image.buildID
    files = main.map { [$0] } ?? []
    if main?.hasDebugInformation != true || main?.section(ofType: SHT_SYMTAB) == nil {
      files += separateFiles(main: main, localPath: localPath, buildID: buildID)
    }
  }

  /// For code that the kernel maps without a file. Such code has no names, and that is not a problem to report.
  init(withoutFile image: LoadedImage) {
    self.image = image
    search = DebugFileSearch()
    access = LocalSymbolFiles()
    isVirtual = true
  }

  private func separateFiles(main: ElfFile?, localPath: String, buildID: [UInt8]) -> [ElfFile] {
    var files: [ElfFile] = []
    var tried: Set<String> = [localPath]
    func isComplete() -> Bool {
      let all = files + (main.map { [$0] } ?? [])
      return all.contains { $0.hasDebugInformation } && all.contains { $0.section(ofType: SHT_SYMTAB) != nil }
    }
    var candidates: [(path: String, trust: Trust)] = search.paths(forBuildID: buildID).map { ($0, .buildID) }
    candidates += access.paths(forBuildID: buildID).map { ($0, .buildID) }
    if let main, let link = main.debugLink {
      candidates += search.paths(forDebugLink: link.name, inFileAt: localPath, ofImage: image.path).map {
        ($0, .checksum(link.checksum))
      }
    }
    candidates += search.paths(forImage: image.path).map { ($0, .buildID) }
    for candidate in candidates where tried.insert(candidate.path).inserted {
      if let file = open(candidate.path, expecting: buildID, trust: candidate.trust) { files.append(file) }
      if isComplete() { break }
    }
    if !isComplete(), let file = fetched(.debugInformation, buildID) { files.append(file) }
    return files
  }

  /// Returns a file from a server; nil if no server has it.
  private func fetched(_ kind: DebugFileServers.Kind, _ buildID: [UInt8]) -> ElfFile? {
    DebugFileServers.fetchedPath(of: kind, image: image.path, buildID: buildID).flatMap {
      open($0, expecting: buildID, trust: .buildID)
    }
  }

  /// Opens a file if it exists, is not damaged, and is of the same build.
  private func open(_ path: String, expecting buildID: [UInt8], trust: Trust) -> ElfFile? {
    do throws(SymbolFileError) {
      guard let contents = try access.contents(ofFile: path) else { return nil }
      if case .checksum(let expected) = trust, debugLinkChecksum(UnsafeRawBufferPointer(contents.bytes)) != expected {
        return nil
      }
      let file = try ElfFile(path: path, contents: contents)
      let isProven = if case .checksum = trust { file.buildID.isEmpty } else { false }
      guard buildID.isEmpty || file.buildID == buildID || isProven else {
        note(path, .buildIDMismatch(expected: Hexadecimal.digits(buildID), found: Hexadecimal.digits(file.buildID)))
        return nil
      }
      return file
    } catch {
      note(path, .unreadable(error))
      return nil
    }
  }

  private func note(_ path: String, _ reason: ImageProblem.Reason) {
    if failure == nil { failure = (path, reason) }
  }

  private func firstTable(_ subject: SymbolTable.Subject) -> SymbolTable? {
    for type in [SHT_SYMTAB, SHT_DYNSYM] {
      for file in files {
        if let table = SymbolTable(file, sectionType: type, subject: subject) { return table }
      }
    }
    return nil
  }

  private func readDebugInformation() -> DebugInformation? {
    for file in files where file.hasDebugInformation {
      // Take the executable ranges from the image's own file: the segments of a debug file may have no contents.
      let codeFile = main.map { $0.executableRanges.isEmpty ? file : $0 } ?? file
      let found = DebugInformation(file, codeFile: codeFile) { supplement(of: file, linkedFrom: $0) }
      if let found, !found.isEmpty { return found }
    }
    return nil
  }

  /// Opens the file with the debug information that `file` shares with other files; nil if `file` names none.
  private func supplement(of file: ElfFile, linkedFrom handle: OpaquePointer) -> DebugInformation? {
    var name: UnsafePointer<CChar>?
    var identifier: UnsafeRawPointer?
    let size = dwelf_dwarf_gnu_debugaltlink(handle, &name, &identifier)
    guard size > 0, let name, let identifier else { return nil }
    let buildID = Array(UnsafeRawBufferPointer(start: identifier, count: size))
    for path in search.paths(forSupplement: String(cString: name), ofFileAt: file.path, buildID: buildID) {
      guard let shared = open(path, expecting: buildID, trust: .buildID) else { continue }
      if let found = DebugInformation(shared, codeFile: shared, supplement: { _ in nil }) { return found }
    }
    return nil
  }

  private func findProblems() -> [ImageProblem] {
    var problems: [ImageProblem] = []
    func add(_ file: String?, _ reason: ImageProblem.Reason) {
      problems.append(ImageProblem(imagePath: image.path, buildID: image.buildID, file: file, reason: reason))
    }
    if image.buildID.isEmpty, let file = files.first { add(file.path, .unverified) }
    let (hasSymbols, hasLines) = (symbols != nil, debugInformation != nil)
    if hasSymbols, hasLines { return problems }
    if files.isEmpty {
      add(failure?.file, failure?.reason ?? .fileMissing)
    } else if !hasSymbols {
      add(failure?.file ?? files[0].path, failure?.reason ?? .noSymbols)
    } else {
      add(failure?.file ?? files[0].path, failure?.reason ?? .noDebugInformation)
    }
    return problems
  }
}

/// Returns the CRC-32 of a whole debug file, as in `.gnu_debuglink` (IEEE polynomial, as in zlib). O(n).
func debugLinkChecksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
  var crc = ~UInt32(0)
  var index = 0
  // Process four bytes at a time, since debug files are large.
  debugLinkChecksumTable.withUnsafeBufferPointer { table in
    while index + 4 <= bytes.count {
      crc ^= bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self).littleEndian
      crc =
        table[768 + Int(crc & 255)] ^ table[512 + Int(crc >> 8 & 255)] ^ table[256 + Int(crc >> 16 & 255)]
        ^ table[Int(crc >> 24)]
      index += 4
    }
    while index < bytes.count {
      crc = crc >> 8 ^ table[Int((crc ^ UInt32(bytes[index])) & 255)]
      index += 1
    }
  }
  return ~crc
}

private let debugLinkChecksumTable: [UInt32] = {
  var table = [UInt32](repeating: 0, count: 1024)
  for byte in 0..<256 {
    var value = UInt32(byte)
    for _ in 0..<8 { value = value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xEDB8_8320 }
    table[byte] = value
  }
  for slice in 1..<4 {
    for byte in 0..<256 {
      let previous = table[(slice - 1) * 256 + byte]
      table[slice * 256 + byte] = previous >> 8 ^ table[Int(previous & 255)]
    }
  }
  return table
}()
