// The facts about a trace that `record` reports without reading the trace's events.

import CTraceFormat
import CZstd
import Glibc
import TraceReading

/// The facts in a trace's header, status block and closing record.
package struct RecordedTrace: Hashable, Sendable {
  package enum State: Hashable, Sendable {
    /// There is a closing record.
    case closed(CloseReason)
    /// The recorder stopped before the process ended, because of an errno; 0 if unknown.
    case stopped(Int32)
    /// There is no closing record. The process is running, or ended without writing the record.
    case open
  }
  package enum CloseReason: Hashable, Sendable {
    case exit, exec, stopped, recovered, underscoreExit, detached
    case unknown(UInt32)
  }

  package var path: String
  package var fileSize: ByteCount
  /// True if the file is longer than its data because the recorder reserved space.
  var hasRoomAhead: Bool
  package var processID: UInt32
  package var parentProcessID: UInt32
  package var traceID: UInt64
  /// 0 if the library was preloaded by hand.
  package var sessionID: UInt64
  /// Nanoseconds since 1970.
  package var startRealtime: UInt64
  package var stackDepthLimit: UInt32
  package var state: State
  /// The number of events in all chunks. Without a closing record, the number from the status block and the live file.
  package var eventCount: UInt64
  /// 0 if unknown.
  package var threadCount: UInt32
  package var untracedChildren: UInt32
  package var drops: Drops

  /// Counts of missing events and stacks, by reason.
  package struct Drops: Hashable, Sendable {
    /// Calls made by a signal handler that interrupted the recorder.
    package var nested: UInt64 = 0
    /// Calls after the recorder had stopped.
    var afterStop: UInt64 = 0
    var withoutMemory: UInt64 = 0
    /// Stacks that were cut at the depth limit. Events with such stacks were recorded. The same applies to the next two
    /// properties.
    var truncatedStacks: UInt64 = 0
    var incompleteStacks: UInt64 = 0
    var mismatchedStacks: UInt64 = 0
  }

  /// Reads a file's header, status block and closing record. Nil if the file is not a trace, or has a newer version.
  ///
  /// - Complexity: Constant, regardless of the trace's size.
  package init?(path: String) {
    guard let file = ReadOnlyFile(path: path) else { return nil }
    let page = file.bytes(at: 0, count: Int(LT_TRACE_HEADER_SIZE))
    guard page.count == Int(LT_TRACE_HEADER_SIZE), page.starts(with: Self.magic) else { return nil }
    let header = page.load(lt_trace_header.self, at: 0)
    let checked = page.withUnsafeBytes { lt_crc32c(0, $0.baseAddress, MemoryLayout<lt_trace_header>.size - 4) }
    guard header.version <= UInt32(LT_FORMAT_THINNED_VERSION), checked == header.headerChecksum else { return nil }
    let status = page.load(lt_trace_status.self, at: Int(LT_TRACE_STATUS_OFFSET))
    self.path = path
    let dataEnd = file.traceDataEnd
    fileSize = ByteCount(dataEnd)
    hasRoomAhead = file.size > dataEnd
    processID = header.processID
    parentProcessID = header.parentProcessID
    traceID = header.traceID
    sessionID = header.sessionID
    startRealtime = header.startRealtime
    stackDepthLimit = header.stackDepthLimit
    if let closing = Self.closing(of: file, dataEnd: dataEnd) {
      // If the recorder had stopped, the closing record's reason does not count, since another process may have written
      // the closing record.
      state =
        status.state == UInt32(LT_STATE_STOPPED) || closing.reason == UInt32(LT_CLOSE_STOPPED)
        ? .stopped(status.stopErrno) : .closed(CloseReason(closing.reason))
      eventCount = closing.eventCount
      threadCount = closing.threadCount
      untracedChildren = closing.untracedChildren
      drops = withUnsafeBytes(of: closing.drops) { Drops($0) }
    } else {
      state = status.state == UInt32(LT_STATE_STOPPED) ? .stopped(status.stopErrno) : .open
      eventCount = status.eventCount
      if let live = LiveRecording(tracePath: path), live.traceID == header.traceID { eventCount += live.eventCount() }
      threadCount = 0
      untracedChildren = 0
      drops = withUnsafeBytes(of: status.drops) { Drops($0) }
    }
  }

  /// True if the process closed the trace but could not shorten the file, for example because the process had changed
  /// its user.
  package var isLeftLong: Bool {
    if case .closed = state { return hasRoomAhead }
    return false
  }

  /// Returns the trace, in the same directory, of the program that the process executed next; nil if there is none.
  ///
  /// - Complexity: Linear in the number of files in the directory. All of them are opened.
  package func successor() -> RecordedTrace? {
    let slash = path.lastIndex(of: "/")
    guard let directory = opendir(slash.map { String(path[...$0]) } ?? ".") else { return nil }
    defer { closedir(directory) }
    var found: RecordedTrace?
    while let entry = readdir(directory) {
      let name = directoryEntryName(entry)
      guard let other = RecordedTrace(path: (slash.map { String(path[...$0]) } ?? "") + name),
        other.processID == processID, other.sessionID == sessionID, other.startRealtime > startRealtime,
        found.map({ other.startRealtime < $0.startRealtime }) ?? true
      else { continue }
      found = other
    }
    return found
  }

  static let magic: [UInt8] = [0x89] + Array("LKTRC\r\n".utf8)

  /// Returns the last valid closing record in the last 64 KiB of the file's data; nil if there is none.
  private static func closing(of file: borrowing ReadOnlyFile, dataEnd: UInt64) -> lt_closing? {
    let headerSize = MemoryLayout<lt_chunk_header>.size
    let window: UInt64 = 65536, alignment = UInt64(LT_CHUNK_ALIGNMENT)
    var start = max(UInt64(LT_TRACE_HEADER_SIZE), dataEnd > window ? dataEnd - window : 0)
    start = (start + alignment - 1) / alignment * alignment
    let tail = file.bytes(at: start, count: Int(window))
    for at in stride(from: (tail.count - headerSize) & ~7, through: 0, by: -Int(alignment)) {
      let header = tail.load(lt_chunk_header.self, at: at)
      guard header.magic == UInt32(LT_CHUNK_MAGIC), header.kind == UInt16(LT_CHUNK_CLOSING),
        tail.checksum(at: at, count: headerSize - 4) == header.headerChecksum,
        Int(header.storedSize) <= tail.count - at - headerSize,
        tail.checksum(at: at + headerSize, count: Int(header.storedSize)) == header.payloadChecksum,
        let payload = payload(Array(tail[(at + headerSize)..<(at + headerSize + Int(header.storedSize))]), header)
      else { continue }
      return payload.load(lt_closing.self, at: 0)
    }
    return nil
  }

  /// Returns the decompressed payload of a closing chunk. Nil if it is too short, or longer than any closing record.
  private static func payload(_ stored: [UInt8], _ header: lt_chunk_header) -> [UInt8]? {
    let size = Int(header.rawSize)
    guard size >= MemoryLayout<lt_closing>.size, size <= 65536 else { return nil }
    switch Int(header.compression) {
    case Int(LT_COMPRESSION_NONE):
      return stored.count == size ? stored : nil
    case Int(LT_COMPRESSION_ZSTD):
      var raw = [UInt8](repeating: 0, count: size)
      return ZSTD_decompress(&raw, size, stored, stored.count) == size ? raw : nil
    default:
      return nil
    }
  }
}

extension RecordedTrace.CloseReason {
  init(_ raw: UInt32) {
    switch Int(raw) {
    case Int(LT_CLOSE_EXIT): self = .exit
    case Int(LT_CLOSE_EXEC): self = .exec
    case Int(LT_CLOSE_STOPPED): self = .stopped
    case Int(LT_CLOSE_RECOVERED): self = .recovered
    case Int(LT_CLOSE_UNDERSCORE_EXIT): self = .underscoreExit
    case Int(LT_CLOSE_DETACHED): self = .detached
    default: self = .unknown(raw)
    }
  }
}

extension RecordedTrace.Drops {
  init(_ counters: UnsafeRawBufferPointer) {
    func counter(_ index: Int) -> UInt64 { counters.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self) }
    nested = counter(Int(LT_DROP_NESTED))
    afterStop = counter(Int(LT_DROP_STOPPED))
    withoutMemory = counter(Int(LT_DROP_NO_MEMORY))
    truncatedStacks = counter(Int(LT_DROP_STACK_TRUNCATED))
    incompleteStacks = counter(Int(LT_DROP_STACK_INCOMPLETE))
    mismatchedStacks = counter(Int(LT_DROP_STACK_MISMATCH))
  }
}

extension [UInt8] {
  /// Loads a struct of the format; the caller must have checked the offset.
  func load<T: BitwiseCopyable>(_: T.Type, at offset: Int) -> T {
    withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: T.self) }
  }

  fileprivate func checksum(at offset: Int, count: Int) -> UInt32 {
    withUnsafeBytes { lt_crc32c(0, $0.baseAddress! + offset, count) }
  }
}
