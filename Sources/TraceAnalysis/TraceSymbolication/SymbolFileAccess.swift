// Symbolication's access to files: a protocol, so that the caller chooses where the bytes come from.

import Glibc
import TraceReading

/// Reasons why a file with symbols or debug information could not be used.
package enum SymbolFileError: Error, Hashable, Sendable {
  /// The operating system refused; the number is its `errno`.
  case system(errno: Int32)
  /// The path leads to a directory, device or pipe.
  case notARegularFile
  /// The bytes are no ELF file, or a damaged one. `offset` is the place in the file, as far as known.
  case notELF(offset: FileOffset)
}

extension SymbolFileError: CustomStringConvertible {
  /// Words that go after a colon.
  package var description: String {
    switch self {
    case .system(let errno): systemErrorText(errno)
    case .notARegularFile: "it is no regular file"
    case .notELF(let offset): "it is no sound ELF file (byte \(Decimal.grouped(offset.rawValue)))"
    }
  }
}

/// Gives the contents of files by path.
///
/// `Symbolicator` calls it from the thread it is itself called on.
package protocol SymbolFileAccess {
  /// The file's bytes, or `nil` if nothing is at `path`. Throws if something is, but cannot be read.
  func contents(ofFile path: String) throws(SymbolFileError) -> SymbolFileContents?

  /// Paths of further files with a build ID, which no search by name finds.
  func paths(forBuildID buildID: [UInt8]) -> [String]

  /// The one path of the file at `path`, which may have many; `path` itself if no other is known.
  func canonicalPath(ofFile path: String) -> String
}

extension SymbolFileAccess {
  package func canonicalPath(ofFile path: String) -> String { path }
  package func paths(forBuildID buildID: [UInt8]) -> [String] { [] }
}

/// The bytes of one file, private to the process, for as long as the object lives.
package final class SymbolFileContents {
  /// Writable because the ELF library requires it; changes never reach the file.
  package let bytes: UnsafeMutableRawBufferPointer
  private let release: (UnsafeMutableRawBufferPointer) -> Void

  /// Copies `bytes`. O(n)
  package init(_ bytes: [UInt8]) {
    self.bytes = .allocate(byteCount: max(bytes.count, 1), alignment: 16)
    self.bytes.copyBytes(from: bytes)
    release = { $0.deallocate() }
  }

  /// Takes ownership of a mapping, which `release` unmaps. The default is for a mapping by `mmap`.
  init(
    mapping: UnsafeMutableRawBufferPointer,
    release: @escaping (UnsafeMutableRawBufferPointer) -> Void = { munmap($0.baseAddress, $0.count) }
  ) {
    (bytes, self.release) = (mapping, release)
  }

  deinit { release(bytes) }
}

/// The files of this machine, mapped into memory on demand, so that only the parts read take up memory.
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

  /// Opens a regular file and has it mapped, by its descriptor and its size. `map` returns nil and sets errno if it
  /// cannot.
  static func contents(ofFile path: String, map: (Int32, Int) -> SymbolFileContents?) throws(SymbolFileError)
    -> SymbolFileContents?
  {
    // Paths come from a trace and may lead to a pipe: never wait for one to be opened.
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
