// The limit of the memory that a heap image's words may take.

import Glibc
import TraceReading

/// A bound on the memory that a heap image is read into. An image's needs are known only once its pages are there, and
/// a damaged or hostile file may claim any number of them in a few bytes.
package struct MemoryLimit: Hashable, Sendable {
  package var bytes: ByteCount

  package init(_ bytes: ByteCount) { self.bytes = bytes }

  /// Half of this machine's memory: the graph takes about as much as the image does.
  package static let standard: MemoryLimit = {
    let (pages, size) = (sysconf(Int32(_SC_PHYS_PAGES)), sysconf(Int32(_SC_PAGESIZE)))
    guard pages > 0, size > 0 else { return MemoryLimit(unknownMachine) }
    let (bytes, overflow) = UInt64(pages).multipliedReportingOverflow(by: UInt64(size))
    return MemoryLimit(ByteCount(overflow ? UInt64.max / 2 : bytes / 2))
  }()

  /// The limit if the system does not say how much memory it has.
  private static let unknownMachine = ByteCount(4 << 30)
}

extension MemoryLimit {
  /// A size with its unit: `8GiB`, `500MB`.
  package init?(parsing text: String) {
    guard let bytes = Quantity(parsing: text)?.bytes else { return nil }
    self.init(ByteCount(bytes))
  }
}
