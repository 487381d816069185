// What one image of a process costs it, as far as that is known beforehand.

import TraceReading

/// Estimates, stated before the first image. They come from measurements that docs/inspecting.md has; the lines of the
/// images have what was measured since.
package struct ImageCost: Hashable, Sendable {
  /// Seconds for which all threads stand still.
  package var pause: Double
  /// Bytes that the process may need besides: of each page that it writes to while it is read there are two.
  package var mostCopied: UInt64
  /// Bytes of the trace.
  package var trace: UInt64

  /// Stopping and letting go of a process takes so long, whatever its size.
  private static let basis = 0.004
  /// And so long for each thread that computes.
  private static let perThread = 0.0003
  /// The kernel copies the page tables of 1 GiB, which take 2 MiB, in 16 ms.
  private static let perPageTableByte = 0.016 / Double(2 << 20)
  /// The trace of a process with hardly any objects: its images, their types, words of their data.
  private static let leastTrace: UInt64 = 160 << 10
  /// Part of the memory that is no file's, where that is small objects that refer to each other.
  private static let tracePart: UInt64 = 10

  package init(_ use: ProcessMemoryUse) {
    pause =
      Self.basis + Self.perThread * Double(use.threads) + Self.perPageTableByte * Double(use.pageTables)
    mostCopied = use.anonymous
    trace = Self.leastTrace + use.anonymous / Self.tracePart
  }

  /// Of a program that is to be started, once it has so many bytes, none of which are a file's.
  package init(ofSize size: UInt64) {
    var use = ProcessMemoryUse()
    use.resident = size
    use.anonymous = size
    use.pageTables = size / Self.bytesForPageTableByte
    self.init(use)
  }

  /// An entry of 8 bytes for each page of 4 KiB.
  private static let bytesForPageTableByte: UInt64 = 512

  /// `stands still for about 20 ms; …`
  package var words: String {
    "stands still for about \(Decimal.duration(pause)) where a processor is free, may need up to \(Decimal.bytes(mostCopied)) more memory while it is read (pages that it writes to meanwhile), and writes a trace of up to about \(Decimal.bytes(trace))"
  }
}
