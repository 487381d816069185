// Reads the files of this machine, and records which parts are read.

import CSandboxedChild
import CTrackedFiles
import TraceReading

/// Provides files like `LocalSymbolFiles`, and records which parts of them are read.
///
/// After an analysis, these are the parts that a trace must store. Installs a SIGSEGV handler for the process. For one
/// thread at a time.
package final class TrackedSymbolFiles: SymbolFileAccess {
  private var known: [String: SymbolFileContents] = [:]
  private let machine = LocalSymbolFiles()

  /// Makes child processes record the parts that they read as well. The child process for reflection reads such files.
  package init() { lt_child_set_prologue(lt_tracked_continue_in_child) }

  package func canonicalPath(ofFile path: String) -> String { machine.canonicalPath(ofFile: path) }

  package func contents(ofFile path: String) throws(SymbolFileError) -> SymbolFileContents? {
    if let contents = known[path] { return contents }
    let contents = try LocalSymbolFiles.contents(ofFile: path) { descriptor, size in
      guard let address = lt_tracked_map(descriptor, size) else { return nil }
      return SymbolFileContents(mapping: UnsafeMutableRawBufferPointer(start: address, count: size)) {
        lt_tracked_unmap($0.baseAddress)
      }
    }
    known[path] = contents
    return contents
  }

  /// Returns the ELF files that were read, in order of path, with the parts that were read. The bytes live as long as
  /// this object. Linear in the sizes of the files.
  package func namedFiles() -> [NamedFile] {
    known.sorted { $0.key < $1.key }.compactMap { path, contents in
      let parts = Self.parts(of: contents)
      guard !parts.isEmpty, let file = try? ElfFile(path: path, contents: contents) else { return nil }
      return NamedFile(
        path: path, buildID: file.buildID, bytes: UnsafeRawBufferPointer(contents.bytes), parts: parts)
    }
  }

  private static func parts(of contents: SymbolFileContents) -> [Range<Int>] {
    let size = contents.bytes.count
    var parts: [Range<Int>] = []
    for number in 0..<(size + LT_TRACKED_PART - 1) / LT_TRACKED_PART {
      guard lt_tracked_is_read(contents.bytes.baseAddress, number) else { continue }
      let start = number * LT_TRACKED_PART
      let end = min(size, start + LT_TRACKED_PART)
      if let last = parts.last, last.upperBound == start {
        parts[parts.count - 1] = last.lowerBound..<end
      } else {
        parts.append(start..<end)
      }
    }
    return parts
  }
}
