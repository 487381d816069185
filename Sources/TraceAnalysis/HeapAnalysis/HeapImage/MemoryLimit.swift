// A limit for the memory of a heap image.

import Glibc
import TextWriting
import TraceReading

/// A limit for the memory of a heap image's words. The needed memory is known only after the pages are read, and a
/// damaged or hostile file may encode any number of pages in a few bytes.
package struct MemoryLimit: Hashable, Sendable {
  package var bytes: ByteCount

  package init(_ bytes: ByteCount) { self.bytes = bytes }

  /// Half of this machine's memory, since the graph takes about as much memory as the image.
  package static let standard: MemoryLimit = {
    let (pages, size) = (sysconf(Int32(_SC_PHYS_PAGES)), sysconf(Int32(_SC_PAGESIZE)))
    guard pages > 0, size > 0 else { return MemoryLimit(unknownMachine) }
    let (bytes, overflow) = UInt64(pages).multipliedReportingOverflow(by: UInt64(size))
    return MemoryLimit(ByteCount(overflow ? UInt64.max / 2 : bytes / 2))
  }()

  /// The limit if the size of this machine's memory is unknown.
  private static let unknownMachine = ByteCount(4 << 30)
}

extension MemoryLimit {
  /// Parses a size with its unit, such as `8GiB` or `500MB`. Nil if the text is no size.
  package init?(parsing text: String) {
    guard let bytes = Quantity(parsing: text)?.bytes else { return nil }
    self.init(ByteCount(bytes))
  }
}
