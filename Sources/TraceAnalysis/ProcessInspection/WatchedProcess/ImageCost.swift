// The cost of one image to the process, as far as it is known in advance.

import TraceReading

/// Estimates, stated before the first image. They come from the measurements in docs/inspecting.md; the lines of the
/// images have the measured values.
package struct ImageCost: Hashable, Sendable {
  /// Seconds that all threads are stopped.
  package var pause: Double
  /// Additional bytes that the process may need: each page that it writes to while it is read exists twice.
  package var mostCopied: UInt64
  /// Bytes of the trace.
  package var trace: UInt64

  /// Seconds to stop and resume a process of any size.
  private static let basis = 0.004
  /// Additional seconds for each running thread.
  private static let perThread = 0.0003
  /// Copying the page tables of 1 GiB, which take 2 MiB, takes the kernel 16 ms.
  private static let perPageTableByte = 0.016 / Double(2 << 20)
  /// The trace of a process with hardly any objects: its images, their types, and words of their data.
  private static let leastTrace: UInt64 = 160 << 10
  /// Size of the trace as a part of the anonymous memory, if that has small objects that refer to each other.
  private static let tracePart: UInt64 = 10

  package init(_ use: ProcessMemoryUse) {
    pause =
      Self.basis + Self.perThread * Double(use.threads) + Self.perPageTableByte * Double(use.pageTables)
    mostCopied = use.anonymous
    trace = Self.leastTrace + use.anonymous / Self.tracePart
  }

  /// Estimates for a program that has not started yet, at a size of `size` bytes of anonymous memory.
  package init(ofSize size: UInt64) {
    var use = ProcessMemoryUse()
    use.resident = size
    use.anonymous = size
    use.pageTables = size / Self.bytesForPageTableByte
    self.init(use)
  }

  /// A page-table entry has 8 bytes and covers a page of 4 KiB.
  private static let bytesForPageTableByte: UInt64 = 512

  /// The estimates as the predicate of a sentence about the process.
  package var words: String {
    "stands still for about \(Decimal.duration(pause)) where a processor is free, may need up to \(Decimal.bytes(mostCopied)) more memory while it is read (pages that it writes to meanwhile), and writes a trace of up to about \(Decimal.bytes(trace))"
  }
}
