// Reasons why a file cannot be read, or not be written, as a trace at all.

/// Failures of the format layer. Damage inside a trace that can be stepped over is a `TraceDiagnostic` instead.
package enum TraceFormatError: Error, Hashable, Sendable {
  /// A call of the operating system failed on `path`.
  case system(call: String, path: String, errno: Int32)
  /// The file does not begin with a trace's magic bytes.
  case notATrace(firstBytes: [UInt8])
  /// The file begins with the magic bytes of a trace's live file.
  case isLiveFile
  /// The file ends inside its header; `size` bytes are there.
  case truncatedHeader(size: ByteCount)
  /// Written by a later version of the format.
  case newerVersion(found: UInt32, known: UInt32)
  /// Written by an earlier version of the format, which is not read any more.
  case olderVersion(found: UInt32, oldest: UInt32)
  /// The header's checksum does not fit its bytes.
  case damagedHeader(expected: UInt32, found: UInt32)
  /// A header field with a sound checksum has a value that cannot be.
  case implausibleHeader(field: String, value: UInt64, offset: FileOffset)
  /// A payload could not be compressed, for writing.
  case compressionFailed(reason: String)
  /// A trace may not be finished while another process is doing so.
  case busy(path: String)
  /// Names cannot be added to a trace that is still being recorded, or that has no closing record.
  case notClosed(path: String)
}
