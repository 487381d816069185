// The space that a recorder reserves at the end of its trace.

import CTraceFormat
import Glibc

/// While a process records, its trace is longer than its contents: after the last chunk there is a hole in the file,
/// without storage. The hole remains if the process is killed. Readers ignore it.
package enum TraceReserve {
  /// `SEEK_DATA` of lseek(2), which Swift does not import from the C library.
  private static let seekData: Int32 = 3

  /// Returns the end of the trace without the hole. Returns `size` if there is no hole, if the file is not a trace, or
  /// if there is data in the place of the hole.
  package static func dataEnd(descriptor: Int32, size: UInt64) -> UInt64 {
    // A running process may write between the two checks, so try again.
    for _ in 0..<4 {
      guard let end = recordedEnd(descriptor), end >= UInt64(LT_TRACE_HEADER_SIZE), end < size else { return size }
      if isHole(descriptor, from: end, to: size) { return end }
    }
    return size
  }

  private static func recordedEnd(_ descriptor: Int32) -> UInt64? {
    var page = [UInt8](repeating: 0, count: Int(LT_TRACE_HEADER_SIZE))
    let count = page.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
    let magic: [UInt8] = [0x89] + Array("LKTRC\r\n".utf8)
    guard count == page.count, page.starts(with: magic) else { return nil }
    return page.withUnsafeBytes {
      $0.loadUnaligned(
        fromByteOffset: Int(LT_TRACE_STATUS_OFFSET) + MemoryLayout<lt_trace_status>.offset(of: \.dataEnd)!,
        as: UInt64.self)
    }
  }

  private static func isHole(_ descriptor: Int32, from end: UInt64, to size: UInt64) -> Bool {
    // The kernel's page that contains `end` may have storage, so check that its rest is zeros. Another machine may have
    // written the file, with larger pages.
    let page = UInt64(TraceHeader.pageSizes.max()!)
    let next = min(size, (end + page - 1) / page * page)
    var rest = [UInt8](repeating: 1, count: Int(next - end))
    let count = rest.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, off_t(end)) }
    guard count == rest.count, rest.allSatisfy({ $0 == 0 }) else { return false }
    return next == size || lseek(descriptor, off_t(next), seekData) < 0 && errno == ENXIO
  }
}
