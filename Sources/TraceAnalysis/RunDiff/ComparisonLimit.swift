// The limit on the combined size of a comparison's traces.

import TraceReading

/// Adds up the sizes of a comparison's traces. Each trace alone is read within its own limits, but a comparison reads
/// several. If they are too large together, the user must write a digest of each trace and compare the digests. A
/// value. Constant time, except for the chunks of a trace.
package struct ComparisonLimit {
  /// Bytes of the files, and of their events, decompressed.
  private var fileBytes: UInt64 = 0
  private var eventBytes: UInt64 = 0

  package init() {}

  package mutating func add(_ reader: TraceReader) {
    fileBytes &+= reader.fileSize.rawValue
    eventBytes &+= ReadingLimits.eventBytes(of: reader.chunks)
  }

  /// Together the traces have more events than the limit for files of their size.
  package var isExceeded: Bool { eventBytes > ReadingLimits.comparedBytes(fileSize: fileBytes) }
}
