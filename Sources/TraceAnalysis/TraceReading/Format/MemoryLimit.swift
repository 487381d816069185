// The limit for the memory of this process while it reads a trace.

import Glibc
import TextWriting

/// A limit for the memory of this process while it reads a trace. The needed memory is known only after the data is
/// read, and a damaged or hostile file may encode any amount in a few bytes.
package struct MemoryLimit: Hashable, Sendable {
  package var bytes: ByteCount

  package init(_ bytes: ByteCount) { self.bytes = bytes }

  /// Three quarters of the memory that the machine has available, or of the control group's limit if that is lower.
  package static let standard: MemoryLimit = {
    let available = [availableBytes(), ControlGroup.memoryLimit()].compactMap { $0 }.min()
    return MemoryLimit(ByteCount(available.map { $0 / 4 * 3 } ?? unknownMachine))
  }()

  /// The limit if the size of this machine's memory is unknown.
  private static let unknownMachine: UInt64 = 4 << 30

  /// The kernel's estimate of the memory that new programs can use without swapping: MemAvailable of proc_meminfo(5).
  /// Nil if there is no such line.
  private static func availableBytes() -> UInt64? {
    for line in SystemFile.text("/proc/meminfo").split(separator: "\n") where line.hasPrefix("MemAvailable:") {
      return line.split(separator: " ").dropFirst().first.flatMap { UInt64($0) }.map { $0 << 10 }
    }
    return nil
  }

  /// Returns whether this process would exceed the limit if it had `bytes` more. Takes a microsecond.
  func isExceeded(adding bytes: UInt64 = 0) -> Bool {
    let used = Self.residentBytes()
    return used > self.bytes.rawValue || bytes > self.bytes.rawValue - used
  }

  /// The limit for a heap image: half of the memory that is left, since the graph takes about as much memory as the
  /// image.
  package var ofHeapImage: MemoryLimit {
    let used = min(bytes.rawValue, Self.residentBytes())
    return MemoryLimit(ByteCount((bytes.rawValue - used) / 2))
  }

  /// Returns the resident memory of this process, from /proc/self/statm (proc_pid_statm(5)); 0 if it cannot be read.
  private static func residentBytes() -> UInt64 {
    let pages = SystemFile.text("/proc/self/statm").split(separator: " ").dropFirst().first.flatMap { UInt64($0) }
    return (pages ?? 0) * UInt64(sysconf(Int32(_SC_PAGESIZE)))
  }
}

extension MemoryLimit {
  /// Parses a size with its unit, such as `8GiB` or `500MB`. Nil if the text is no size.
  package init?(parsing text: String) {
    guard let bytes = Quantity(parsing: text)?.bytes else { return nil }
    self.init(ByteCount(bytes))
  }
}
