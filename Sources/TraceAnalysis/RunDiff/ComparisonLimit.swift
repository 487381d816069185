// The limit on what the traces of a comparison may ask for together.

import TraceReading

/// Adds up what the traces of a comparison have. Each trace alone is read within its own limits, but a comparison reads
/// several; what takes too long at once is digested trace by trace, and the digests are compared. A value; constant
/// time but for the chunks of a trace.
package struct ComparisonLimit {
  /// Bytes of the files, and of their events, decompressed.
  private var fileBytes: UInt64 = 0
  private var eventBytes: UInt64 = 0

  package init() {}

  package mutating func add(_ reader: TraceReader) {
    fileBytes &+= reader.fileSize.rawValue
    eventBytes &+= ReadingLimits.eventBytes(of: reader.chunks)
  }

  /// Together they have more events than files of their size pay for.
  package var isExceeded: Bool { eventBytes > ReadingLimits.comparedBytes(fileSize: fileBytes) }
}
