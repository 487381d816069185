// The limit on the combined size of a comparison's traces.

import TraceReading

/// Adds up the sizes of a comparison's traces, if the traces are not trusted. Each trace alone is read within its own
/// limits, but a comparison reads several. If the traces are too large together, the user must write a digest of each
/// trace and compare the digests. Adding a trace is linear in its chunks.
package struct ComparisonLimit {
  /// Bytes of the files. `eventBytes`: bytes of their decompressed events.
  private var fileBytes: UInt64 = 0
  private var eventBytes: UInt64 = 0

  package init() {}

  package mutating func add(_ reader: TraceReader) {
    guard reader.limits.isBySize else { return }
    fileBytes &+= reader.fileSize.rawValue
    eventBytes &+= ReadingLimits.eventBytes(of: reader.chunks)
  }

  /// True if the traces together have more bytes of events than files of their total size may have.
  package var isExceeded: Bool { eventBytes > ReadingLimits.comparedBytes(fileSize: fileBytes) }
}
