// Estimates the cost of one heap image to the process.

import TextWriting
import TraceReading

/// Estimates that are reported before the first heap image. They come from the measurements in
/// docs/engineering/inspection.md. Later, the output for each heap image has the measured values.
package struct ImageCost: Hashable, Sendable {
  /// Seconds that all threads are stopped.
  package var pause: Double
  /// Additional bytes that may be needed. While the copy is read, each page that the process writes to exists twice.
  var maxCopied: UInt64
  /// Bytes of the trace.
  package var trace: UInt64

  /// Seconds to stop and resume a process of any size.
  private static let basis = 0.004
  /// Additional seconds for each running thread.
  private static let perThread = 0.0003
  /// The kernel copies the page tables of 1 GiB of memory in 16 ms. With pages of 4 KiB, these page tables take 2 MiB.
  private static let perPageTableByte = 0.016 / Double(2 << 20)
  /// Bytes of the trace for a process with hardly any objects: loaded images, types, and words of the images' data.
  private static let minTrace: UInt64 = 160 << 10
  /// The size of anonymous memory divided by the size of the trace, if the memory consists of small objects that refer
  /// to each other.
  private static let tracePart: UInt64 = 10

  package init(_ use: ProcessMemoryUse) {
    pause =
      Self.basis + Self.perThread * Double(use.threads) + Self.perPageTableByte * Double(use.pageTables)
    maxCopied = use.anonymous
    trace = Self.minTrace + use.anonymous / Self.tracePart
  }

  /// Estimates for a program that has not started yet, at a size of `size` bytes of anonymous memory.
  ///
  /// - Parameter page: Bytes of a page of the kernel.
  package init(ofSize size: UInt64, page: UInt64 = LiveProcessMemory.kernelPage) {
    var use = ProcessMemoryUse()
    use.resident = size
    use.anonymous = size
    use.pageTables = size / page * Self.pageTableEntry
    self.init(use)
  }

  /// Bytes of a page table for each page.
  private static let pageTableEntry: UInt64 = 8

  /// The estimates as the predicate of a sentence about the process.
  package var words: String {
    "is stopped for about \(Decimal.duration(pause)) if a processor is free, may need up to \(Decimal.bytes(maxCopied)) more memory while it is read (pages that it writes to in that time), and writes a trace of up to about \(Decimal.bytes(trace))"
  }
}
