// How much memory the words of a heap image may take.

import Glibc

/// A bound on the memory that a heap image is read into. What an image needs is known only once its pages are there, and a damaged or hostile file may
/// claim any number of them in a few bytes.
public struct MemoryLimit: Hashable, Sendable {
  public var bytes: ByteCount

  public init(_ bytes: ByteCount) { self.bytes = bytes }

  /// Half of this machine's memory: the graph takes about as much as the image does.
  public static let standard: MemoryLimit = {
    let (pages, size) = (sysconf(Int32(_SC_PHYS_PAGES)), sysconf(Int32(_SC_PAGESIZE)))
    guard pages > 0, size > 0 else { return MemoryLimit(unknownMachine) }
    let (bytes, overflow) = UInt64(pages).multipliedReportingOverflow(by: UInt64(size))
    return MemoryLimit(ByteCount(overflow ? UInt64.max / 2 : bytes / 2))
  }()

  /// Where the system does not say how much memory it has.
  private static let unknownMachine = ByteCount(4 << 30)
}

extension MemoryLimit {
  /// A size with its unit: `8GiB`, `500MB`.
  public init?(parsing text: String) {
    guard case .bytes(let bytes)? = GateCondition.Threshold(parsing: text) else { return nil }
    self.init(ByteCount(bytes))
  }
}
