// The memory of a running or stopped process.

import CProcessCalls
import Glibc
import TraceReading
import TraceSymbolication

/// Memory of a stopped process, or of a copy of a process. Nothing writes to it.
///
/// `init` reads the list of mappings. Later changes are not noticed. After the process has exited, reads return no
/// bytes.
package struct LiveProcessMemory: ProcessMemory {
  package let processID: Int32
  package var pageSize: UInt64 { Self.kernelPage }
  package let mappings: [MemoryMapping]
  private let file: MemoryFile

  /// - Parameter processID: The process's number in this process's PID namespace.
  package init(processID: Int32) throws(InspectionError) {
    self.processID = processID
    file = MemoryFile(of: processID)
    guard kill(processID, 0) == 0 || errno == EPERM else { throw .noSuchProcess(processID) }
    let descriptor = open("/proc/\(processID)/maps", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .processRefused(processID, errno: errno) }
    defer { close(descriptor) }
    var text: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while text.count < InspectionLimits.mappingListBytes {
      let count = Glibc.read(descriptor, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .processRefused(processID, errno: errno) }
      if count == 0 { break }
      text += piece[..<count]
    }
    let root = ProcFile.target(ofLink: "/proc/\(processID)/root")
    mappings = MappingList(text).mappings.map { mapping in
      var mapping = mapping
      if let path = mapping.file?.path { mapping.file?.path = Self.path(path, below: root) }
      return mapping
    }
  }

  /// Returns a path relative to the other process's root. Returns the path unchanged if the root is the same, or if the
  /// path is not below the root.
  static func path(_ path: String, below root: String) -> String {
    guard root.count > 1, path.hasPrefix(root), path.dropFirst(root.count).first == "/" else { return path }
    return String(path.dropFirst(root.count))
  }

  package var unwoundMemory: UnwoundMemory { .process(processID) }

  package func read(_ address: RuntimeAddress, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard file.descriptor >= 0 else {
      return lt_read_process(processID, address.rawValue, buffer.baseAddress, buffer.count)
    }
    let count = readableCount(at: address.rawValue, of: buffer.count)
    return lt_read_memory_file(file.descriptor, address.rawValue, buffer.baseAddress, count)
  }

  /// Reads with `process_vm_readv` alone. Returns the number of bytes read, and the errno that ended the read; 0 if all
  /// bytes were read.
  func directRead(at address: UInt64, count: Int) -> (count: Int, errno: Int32) {
    var bytes = [UInt8](repeating: 0, count: count)
    let read = lt_read_process(processID, address, &bytes, count)
    return (read, read == count ? 0 : Glibc.errno)
  }

  /// Returns the number of bytes from an address on that the process itself may read, at most `count`. The kernel's
  /// memory file also returns bytes that the process may not read.
  private func readableCount(at address: UInt64, of count: Int) -> Int {
    var end = address
    while end - address < count, let mapping = mappings.mapping(at: end), mapping.isReadable {
      end = mapping.range.upperBound
    }
    return Int(min(end - address, UInt64(count)))
  }

  /// Reads the process's page tables. They lack pages that were never touched. In a private mapping of a file, pages
  /// that were never written to belong to the file and are left out.
  package func writtenRanges(in range: Range<UInt64>) -> [Range<UInt64>] {
    let page = Self.kernelPage
    let descriptor = open("/proc/\(processID)/pagemap", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [range] }
    defer { close(descriptor) }
    var ranges: [Range<UInt64>] = []
    var entries = [UInt64](repeating: 0, count: Self.entriesAtOnce)
    let isPrivateFile = mappings.mapping(at: range.lowerBound).map { $0.file != nil && !$0.isShared } ?? false
    if let listed = Self.listedRanges(in: range, of: descriptor, leavesOutFiles: isPrivateFile) { return listed }
    var at = range.lowerBound & ~(page - 1)
    while at < range.upperBound {
      let wanted = min(UInt64(entries.count), (range.upperBound - at - 1) / page + 1)
      let count = entries.withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress, Int(wanted) * 8, off_t(at / page * 8))
      }
      guard count >= 8 else {
        // The page tables are unreadable, so any page of the range may have been written to.
        ranges.append(max(at, range.lowerBound)..<range.upperBound)
        break
      }
      for index in 0..<count / 8 {
        let (start, end) = (max(at, range.lowerBound), min(at + page, range.upperBound))
        if entries[index] & Self.presentOrSwapped != 0, !isPrivateFile || entries[index] & LT_PAGEMAP_FILE == 0 {
          ranges.join(start..<end)
        }
        at += page
        if at >= range.upperBound { break }
      }
    }
    return ranges
  }

  /// Uses the kernel's list of page ranges (Linux 6.7 and later). The time is proportional to the resident memory.
  /// Returns nil if the kernel has no such list.
  private static func listedRanges(
    in range: Range<UInt64>, of pagemap: Int32, leavesOutFiles: Bool
  ) -> [Range<UInt64>]? {
    let page = Self.kernelPage
    var found = [lt_page_range](repeating: lt_page_range(), count: rangesAtOnce)
    var ranges: [Range<UInt64>] = []
    var at = range.lowerBound & ~(page - 1)
    let end = (range.upperBound + page - 1) & ~(page - 1)
    while at < end {
      var reached: UInt64 = 0
      let count = lt_list_present_pages(pagemap, at, end, leavesOutFiles, &found, UInt64(found.count), &reached)
      guard count >= 0, reached > at else { return nil }
      for piece in found.prefix(count) {
        ranges.join(max(piece.start, range.lowerBound)..<min(piece.end, range.upperBound))
      }
      at = reached
    }
    return ranges
  }

  /// Bytes of a page of this machine's kernel: 4, 16 or 64 KiB.
  package static let kernelPage = UInt64(sysconf(Int32(_SC_PAGESIZE)))
  private static let rangesAtOnce = 512
  private static let entriesAtOnce = 4096
  private static let presentOrSwapped = LT_PAGEMAP_PRESENT | LT_PAGEMAP_SWAPPED
}

/// The open file `/proc/PID/mem` of a process. Closed in `deinit`.
private final class MemoryFile: Sendable {
  let descriptor: Int32  // negative if the file cannot be opened

  init(of processID: Int32) { descriptor = open("/proc/\(processID)/mem", O_RDONLY | O_CLOEXEC) }

  deinit { if descriptor >= 0 { close(descriptor) } }
}

extension [Range<UInt64>] {
  /// Adds a range that begins at or after the end of the last one. Adjacent ranges are merged.
  fileprivate mutating func join(_ range: Range<UInt64>) {
    if let last, last.upperBound == range.lowerBound {
      self[count - 1] = last.lowerBound..<range.upperBound
    } else {
      append(range)
    }
  }
}
