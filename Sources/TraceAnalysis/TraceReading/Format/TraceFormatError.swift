// Reasons why a file cannot be read or written as a trace at all.

/// Failures to read or write a trace. Damage that a reader can skip is a `TraceDiagnostic` instead.
package enum TraceFormatError: Error, Hashable, Sendable {
  /// A call of the operating system failed on `path`.
  case system(call: String, path: String, errno: Int32)
  /// The file does not begin with a trace's magic bytes.
  case notATrace(firstBytes: [UInt8])
  /// The file begins with the magic bytes of a trace's live file.
  case isLiveFile
  /// The file ends inside its header; it has only `size` bytes.
  case truncatedHeader(size: ByteCount)
  /// The file has a later version of the format.
  case newerVersion(found: UInt32, known: UInt32)
  /// The file has an earlier version of the format, which is no longer supported.
  case olderVersion(found: UInt32, oldest: UInt32)
  /// The header's checksum does not match its bytes.
  case damagedHeader(expected: UInt32, found: UInt32)
  /// The header's checksum is sound, but a field has an impossible value.
  case implausibleHeader(field: String, value: UInt64, offset: FileOffset)
  /// A payload could not be compressed before it was written.
  case compressionFailed(reason: String)
  /// Another process records into the trace, finishes it, or adds names to it.
  case busy(path: String)
  /// Names cannot be added to a trace that is still being recorded, or that has no closing record.
  case notClosed(path: String)
}
