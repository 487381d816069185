// Symbolication's access to files. This is a protocol, so that callers choose the source of the bytes.

import Glibc
import TextWriting
import TraceReading

/// Reasons why a file with symbols or debug information could not be used.
package enum SymbolFileError: Error, Hashable, Sendable {
  /// The operating system returned an error.
  case system(errno: Int32)
  /// The path leads to a directory, device or pipe.
  case notARegularFile
  /// The file is no ELF file, or is damaged. `offset` is the place of the damage in the file, or 0.
  case notELF(offset: FileOffset)
}

extension SymbolFileError: CustomStringConvertible {
  /// The text follows a colon in messages.
  package var description: String {
    switch self {
    case .system(let errno): systemErrorText(errno)
    case .notARegularFile: "it is no regular file"
    case .notELF(let offset): "it is no sound ELF file (byte \(Decimal.grouped(offset.rawValue)))"
    }
  }
}

/// Provides the contents of files by path.
///
/// `Symbolicator` calls these functions on the thread of its own caller.
package protocol SymbolFileAccess {
  /// Returns the file's bytes; `nil` if there is no file at `path`. Throws if the file exists but cannot be read.
  func contents(ofFile path: String) throws(SymbolFileError) -> SymbolFileContents?

  /// Returns paths of additional files with the given build ID. A search by name does not find these files.
  func paths(forBuildID buildID: [UInt8]) -> [String]

  /// Returns the canonical path of the file at `path`, or `path` itself if the canonical path is unknown. A file may
  /// have several paths.
  func canonicalPath(ofFile path: String) -> String
}

extension SymbolFileAccess {
  package func canonicalPath(ofFile path: String) -> String { path }
  package func paths(forBuildID buildID: [UInt8]) -> [String] { [] }
}

/// The bytes of one file. They are private to this process, and valid as long as this object exists.
package final class SymbolFileContents {
  /// The bytes are writable because the ELF library requires it. Changes are not written to the file.
  package let bytes: UnsafeMutableRawBufferPointer
  private let release: (UnsafeMutableRawBufferPointer) -> Void

  /// Copies `bytes`. O(n)
  package init(_ bytes: [UInt8]) {
    self.bytes = .allocate(byteCount: max(bytes.count, 1), alignment: 16)
    self.bytes.copyBytes(from: bytes)
    release = { $0.deallocate() }
  }

  /// Takes ownership of a mapping. `release` unmaps it; the default is for a mapping made by `mmap`.
  init(
    mapping: UnsafeMutableRawBufferPointer,
    release: @escaping (UnsafeMutableRawBufferPointer) -> Void = { munmap($0.baseAddress, $0.count) }
  ) {
    (bytes, self.release) = (mapping, release)
  }

  deinit { release(bytes) }
}

/// The files of this machine. They are mapped into memory, so only the parts that are read take memory.
package struct LocalSymbolFiles: SymbolFileAccess, Sendable {
  package init() {}

  package func canonicalPath(ofFile path: String) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  package func contents(ofFile path: String) throws(SymbolFileError) -> SymbolFileContents? {
    try Self.contents(ofFile: path) { descriptor, size in
      let address = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor, 0)
      guard let address, address != MAP_FAILED else { return nil }
      return SymbolFileContents(mapping: UnsafeMutableRawBufferPointer(start: address, count: size))
    }
  }

  /// Opens a regular file, and calls `map` with its descriptor and size. `map` returns nil and sets errno on failure.
  static func contents(ofFile path: String, map: (Int32, Int) -> SymbolFileContents?) throws(SymbolFileError)
    -> SymbolFileContents?
  {
    // Paths come from a trace and may lead to a pipe. O_NONBLOCK keeps `open` from waiting.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw .system(errno: errno)
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .system(errno: errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notARegularFile }
    guard status.st_size > 0 else { throw .notELF(offset: FileOffset(0)) }
    guard let contents = map(descriptor, Int(status.st_size)) else { throw .system(errno: errno) }
    return contents
  }
}
