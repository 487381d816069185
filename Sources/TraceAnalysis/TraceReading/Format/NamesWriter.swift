// Adding names to a trace that is closed.

import CTraceFormat
import Glibc

/// A file of the program, and the parts of it that reports need for names.
package struct NamedFile {
  package var path: String
  /// Empty if the file has no build ID.
  package var buildID: [UInt8]
  /// The whole file. Must be valid until its parts were written.
  package var bytes: UnsafeRawBufferPointer
  /// The parts of the file, in order, with gaps between them.
  package var parts: [Range<Int>]

  package init(path: String, buildID: [UInt8], bytes: UnsafeRawBufferPointer, parts: [Range<Int>]) {
    (self.path, self.buildID, self.bytes, self.parts) = (path, buildID, bytes, parts)
  }
}

/// Writes names into a trace. The trace is whole at every moment, even if this process is killed.
package enum NamesWriter {
  /// The most bytes of file parts in one chunk.
  private static let chunkSize = 4 << 20

  /// Adds the parts of files to the trace at `path`. They replace the parts that the trace already has. Returns the
  /// number of bytes that were added.
  ///
  /// Writes the parts, the list, and a copy of the closing record. If writing fails, the trace is left without names.
  /// Throws `.busy` while a process records into the trace or finishes it, and `.notClosed` if the trace has no closing
  /// record. Linear in the parts.
  @discardableResult
  package static func write(
    _ files: [NamedFile], isComplete: Bool, toolVersion: String, toTraceAt path: String
  ) throws(TraceFormatError) -> UInt64 {
    let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { throw .system(call: "open", path: path, errno: errno) }
    defer { close(descriptor) }
    if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      if errno == EWOULDBLOCK { throw .busy(path: path) }
      throw .system(call: "lock", path: path, errno: errno)
    }
    let reader = try TraceReader(path: path)
    guard !reader.hasLiveFile, let closing = reader.closing else { throw .notClosed(path: path) }
    let start = end(ofRecordingIn: reader)
    // Remove older parts and their list at once. Parts without a list have no meaning.
    guard ftruncate(descriptor, off_t(start)) == 0 else { throw .system(call: "shorten", path: path, errno: errno) }
    var output = Output(descriptor: descriptor, path: path, offset: start)
    do throws(TraceFormatError) {
      var list = ByteBuilder()
      list.varint(UInt64(LT_NAMES_VERSION))
      list.varint(isComplete ? 0 : UInt64(LT_NAMES_INCOMPLETE))
      list.string(toolVersion)
      list.varint(UInt64(files.count))
      var number: UInt32 = 0
      for file in files {
        let first = number
        try write(file, numbered: &number, to: &output)
        list.string(file.path)
        list.blob(file.buildID)
        list.varint(UInt64(file.bytes.count))
        list.varint(UInt64(first))
        list.varint(UInt64(number - first))
      }
      try output.append(.names, list.bytes, sequence: 0)
      try output.append(.closing, closing.encoded(), sequence: 1, compression: .none)
    } catch {
      // Without the new chunks, the first closing record is the last chunk again.
      _ = ftruncate(descriptor, off_t(start))
      throw error
    }
    return output.offset - start
  }

  /// Returns the offset after the first closing record, where names begin.
  private static func end(ofRecordingIn reader: TraceReader) -> UInt64 {
    let alignment = UInt64(LT_CHUNK_ALIGNMENT)
    func end(_ chunk: TraceChunk) -> UInt64 {
      guard case .trace(let offset) = chunk.place else { return 0 }
      let end = offset.rawValue + UInt64(TraceChunk.headerSize) + UInt64(chunk.storedSize)
      return (end + alignment - 1) / alignment * alignment
    }
    let first = reader.chunks.firstIndex { $0.kind == .fileParts || $0.kind == .names } ?? reader.chunks.count
    let recorded = reader.chunks[..<first].map(end).max() ?? 0
    return max(recorded, UInt64(LT_TRACE_HEADER_SIZE))
  }

  private static func write(_ file: NamedFile, numbered number: inout UInt32, to output: inout Output)
    throws(TraceFormatError)
  {
    var (ranges, size) = ([Range<Int>](), 0)
    func flush() throws(TraceFormatError) {
      guard !ranges.isEmpty else { return }
      var payload = ByteBuilder()
      payload.bytes.reserveCapacity(size + ranges.count * 8)
      payload.varint(UInt64(ranges.count))
      var end = 0
      for range in ranges {
        payload.varint(UInt64(range.lowerBound - end))
        payload.varint(UInt64(range.count))
        end = range.upperBound
      }
      for range in ranges { payload.bytes.append(contentsOf: file.bytes[range]) }
      try output.append(.fileParts, payload.bytes, sequence: number)
      number += 1
      (ranges, size) = ([], 0)
    }
    for part in file.parts {
      var start = part.lowerBound
      while start < part.upperBound {
        let end = min(part.upperBound, start + chunkSize - size)
        ranges.append(start..<end)
        size += end - start
        start = end
        if size == chunkSize { try flush() }
      }
    }
    try flush()
  }

  private struct Output {
    let descriptor: Int32
    let path: String
    var offset: UInt64

    mutating func append(
      _ kind: ChunkKind, _ payload: [UInt8], sequence: UInt32, compression: SealedChunk.Compression = .zstd
    ) throws(TraceFormatError) {
      var chunk = TraceChunk(
        kind: kind, thread: 0, sequence: sequence, firstTime: 0, lastTime: 0, eventCount: 0, compression: 0,
        storedSize: 0, rawSize: 0, place: .trace(FileOffset(0)))
      let bytes = try SealedChunk.encode(&chunk, payload: payload, compression: compression)
      var done = 0
      while done < bytes.count {
        let count = bytes.withUnsafeBytes {
          pwrite(descriptor, $0.baseAddress! + done, $0.count - done, off_t(offset) + off_t(done))
        }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw .system(call: "write", path: path, errno: count == 0 ? ENOSPC : errno) }
        done += count
      }
      offset += UInt64(bytes.count)
    }
  }
}
