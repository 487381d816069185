// Uses the parts of files in traces in place of missing or replaced files.

import Glibc
import TraceReading

/// Reads the files of this machine, and the stored parts of missing or replaced files.
///
/// If the file on this machine has the path, size and build ID of the stored file, the local file is read, since it is
/// complete. Any other file is assembled from the trace, with zeros for missing parts. For one thread at a time.
package final class StoredSymbolFiles: SymbolFileAccess {
  /// Maximum size of an assembled file, in bytes of address space.
  private static let largest: UInt64 = 64 << 30

  private let stored: [StoredFiles]
  private let sysroot: String?
  private let machine = LocalSymbolFiles()
  private var known: [String: SymbolFileContents] = [:]

  /// - Parameters:
  ///   - stored: the stored files of all traces that are read. If several files have the same path, the first counts.
  ///   - sysroot: see `DebugFileSearch`. Paths in traces do not begin with it.
  package init(_ stored: [StoredFiles], sysroot: String?) { (self.stored, self.sysroot) = (stored, sysroot) }

  package func canonicalPath(ofFile path: String) -> String { machine.canonicalPath(ofFile: path) }

  package func contents(ofFile path: String) throws(SymbolFileError) -> SymbolFileContents? {
    if let contents = known[path] { return contents }
    guard let (file, store) = file(at: path) else { return try machine.contents(ofFile: path) }
    if let local = try? machine.contents(ofFile: path), isSame(local, file, path) { return local }
    guard let contents = Self.contents(of: file, in: store) else { return try machine.contents(ofFile: path) }
    known[path] = contents
    return contents
  }

  package func paths(forBuildID buildID: [UInt8]) -> [String] {
    buildID.isEmpty ? [] : stored.flatMap { $0.files.filter { $0.buildID == buildID }.map(\.path) }
  }

  private func file(at path: String) -> (StoredFile, StoredFiles)? {
    let traced = sysroot.flatMap { path.hasPrefix($0 + "/") ? String(path.dropFirst($0.count)) : nil }
    for store in stored {
      if let file = store.files.first(where: { $0.path == path || $0.path == traced }) { return (file, store) }
    }
    return nil
  }

  /// Returns whether a file of this machine is the stored file. Returns false without a build ID, since different files
  /// may have the same size.
  private func isSame(_ local: SymbolFileContents, _ file: StoredFile, _ path: String) -> Bool {
    guard !file.buildID.isEmpty, UInt64(local.bytes.count) == file.size else { return false }
    return (try? ElfFile(path: path, contents: local))?.buildID == file.buildID
  }

  private static func contents(of file: StoredFile, in store: StoredFiles) -> SymbolFileContents? {
    guard file.size > 0, file.size <= largest else { return nil }
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
    guard let address = mmap(nil, Int(file.size), PROT_READ | PROT_WRITE, flags, -1, 0), address != MAP_FAILED else {
      return nil
    }
    let memory = UnsafeMutableRawBufferPointer(start: address, count: Int(file.size))
    _ = store.copy(file, to: memory)
    return SymbolFileContents(mapping: memory)
  }
}
