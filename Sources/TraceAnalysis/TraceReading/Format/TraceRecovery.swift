// Finishing the trace of a process that died without closing it.

import CTraceFormat
import Glibc

/// Moves a dead process's records from its live file into its trace, and closes the trace.
package enum TraceRecovery {
  package struct Outcome: Hashable, Sendable {
    /// True if the trace was already closed, so that nothing was added.
    var wasClosed: Bool
    /// The number of payloads that were copied from the live file.
    var recoveredChunks: Int
    /// The number of events in these payloads.
    var recoveredEvents: UInt64
    /// The number of events in the whole trace, by the chunk headers and the live payloads.
    package var eventCount: UInt64
    package var fileSize: ByteCount
  }

  /// Seals the payloads that are only in the live file, and appends them to the trace with a closing record. Removes
  /// the live file when the new chunks are on disk. The process must be dead.
  ///
  /// May be repeated, even if an earlier attempt was killed at any point. If there is no room, or if writing fails,
  /// restores both files and throws. Throws `.busy` while another process finishes the trace. `waitStatus`: the status
  /// from waitpid; −1 if unknown.
  @discardableResult
  package static func finish(tracePath: String, waitStatus: Int32) throws(TraceFormatError) -> Outcome {
    try finish(tracePath: tracePath, waitStatus: waitStatus, calls: RecoveryCalls())
  }

  static func finish(tracePath: String, waitStatus: Int32, calls: RecoveryCalls) throws(TraceFormatError) -> Outcome {
    let descriptor = open(tracePath, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    if descriptor < 0 { throw .system(call: "open", path: tracePath, errno: errno) }
    defer { close(descriptor) }
    if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      if errno == EWOULDBLOCK { throw .busy(path: tracePath) }
      throw .system(call: "lock", path: tracePath, errno: errno)
    }
    let reader = try TraceReader(path: tracePath)
    var information = stat()
    if fstat(descriptor, &information) == 0, UInt64(max(0, information.st_size)) > reader.fileSize.rawValue,
      ftruncate(descriptor, off_t(reader.fileSize.rawValue)) != 0
    {
      throw .system(call: "shorten", path: tracePath, errno: errno)
    }
    let livePath = tracePath + LT_LIVE_SUFFIX
    var outcome = Outcome(
      wasClosed: reader.closing != nil, recoveredChunks: 0, recoveredEvents: 0,
      eventCount: reader.closing?.eventCount ?? 0,
      fileSize: reader.fileSize)
    if reader.closing == nil {
      let end = appendOffset(reader)
      let addition = try sealed(reader, waitStatus: waitStatus, outcome: &outcome)
      try append(addition, at: end, descriptor: descriptor, oldSize: reader.fileSize.rawValue, path: tracePath, calls)
      outcome.fileSize = ByteCount(max(reader.fileSize.rawValue, end + UInt64(addition.count)))
    }
    // A live file that is damaged or belongs to another trace must not be removed.
    if reader.hasLiveFile, unlink(livePath) != 0, errno != ENOENT {
      throw .system(call: "remove", path: livePath, errno: errno)
    }
    return outcome
  }

  /// Returns the offset for new chunks: the end of the file, or the offset of a chunk that the process did not finish,
  /// if the live file still has all of this chunk's contents.
  private static func appendOffset(_ reader: TraceReader) -> UInt64 {
    let alignment = UInt64(LT_CHUNK_ALIGNMENT)
    func aligned(_ offset: UInt64) -> UInt64 { (offset + alignment - 1) / alignment * alignment }
    let end = aligned(reader.fileSize.rawValue)
    var lastSound = UInt64(LT_TRACE_HEADER_SIZE)
    for chunk in reader.chunks where chunk.livePayload == nil {
      if case .trace(let offset) = chunk.place {
        lastSound = max(lastSound, aligned(offset.rawValue + UInt64(TraceChunk.headerSize) + UInt64(chunk.storedSize)))
      }
    }
    // A rest that is shorter than a chunk header has no contents.
    if lastSound < reader.fileSize.rawValue, reader.fileSize.rawValue - lastSound < UInt64(TraceChunk.headerSize) {
      return lastSound
    }
    guard lastSound < reader.fileSize.rawValue, let torn = reader.tornChunk(at: lastSound) else { return end }
    // A partly written closing record is replaced, too.
    let isHeldLive =
      torn.kind == .closing
      || reader.chunks.contains {
        $0.livePayload != nil && $0.thread == torn.thread && $0.kind == torn.kind && $0.sequence == torn.sequence
      }
    let isLast =
      aligned(lastSound + UInt64(TraceChunk.headerSize) + UInt64(torn.storedSize)) >= reader.fileSize.rawValue
    return isHeldLive && isLast ? lastSound : end
  }

  private static func sealed(
    _ reader: TraceReader, waitStatus: Int32, outcome: inout Outcome
  ) throws(TraceFormatError) -> [UInt8] {
    let walker = ChunkWalker(reader, stacks: .none)
    let buffer = PayloadBuffer()
    var addition: [UInt8] = []
    var events: UInt64 = 0
    var lastTime = reader.header.startTime
    var threads: Set<UInt32> = []
    for (index, chunk) in reader.chunks.enumerated() {
      guard chunk.livePayload != nil else {
        events &+= chunk.eventCount
        if chunk.kind == .events {
          lastTime = max(lastTime, chunk.lastTime)
          threads.insert(chunk.thread)
        }
        continue
      }
      // Live payloads are only copied, so this cannot fail.
      guard reader.loader.load(chunk, into: buffer) == nil else { continue }
      var copy = chunk
      if chunk.kind == .events {
        // The slot's event count may lag behind its payload, so count the events.
        copy.lastTime = chunk.firstTime
        copy.eventCount = walker.countEvents(inChunk: index, lastTime: &copy.lastTime)
        events &+= copy.eventCount
        outcome.recoveredEvents &+= copy.eventCount
        lastTime = max(lastTime, copy.lastTime)
        threads.insert(chunk.thread)
      }
      addition += try SealedChunk.encode(&copy, payload: Array(buffer.bytes), compression: .zstd)
      outcome.recoveredChunks += 1
    }
    outcome.eventCount = events
    var closing = TraceClosing(reason: .recovered, waitStatus: waitStatus, time: lastTime, eventCount: events)
    closing.threadCount = UInt32(truncatingIfNeeded: threads.count)
    closing.drops = reader.status.drops
    var chunk = TraceChunk(
      kind: .closing, thread: 0, sequence: 0, firstTime: 0, lastTime: 0, eventCount: 0, compression: 0, storedSize: 0,
      rawSize: 0,
      place: .trace(FileOffset(0)))
    addition += try SealedChunk.encode(&chunk, payload: closing.encoded(), compression: .none)
    return addition
  }

  /// Writes `bytes` at `offset` and syncs the file. On failure, restores the file's old size and contents.
  private static func append(
    _ bytes: [UInt8], at offset: UInt64, descriptor: Int32, oldSize: UInt64, path: String, _ calls: RecoveryCalls
  ) throws(TraceFormatError) {
    let overwritten = oldSize > offset ? Int(oldSize - offset) : 0
    var old = [UInt8](repeating: 0, count: overwritten)
    let kept = old.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
    if kept != overwritten { throw .system(call: "read", path: path, errno: errno == 0 ? EIO : errno) }
    // The torn chunk may be longer than the new chunks. The rest of it is overwritten with zeros.
    let end = max(offset + UInt64(bytes.count), oldSize)
    var failure: (call: String, code: Int32)?
    let reserve = calls.reserve(descriptor, off_t(offset), off_t(end - offset))
    if reserve != 0 && reserve != EOPNOTSUPP && reserve != EINVAL {
      failure = ("make room in", reserve)
    } else {
      var content = bytes
      content.append(contentsOf: repeatElement(0, count: Int(end - offset) - bytes.count))
      failure = write(content, descriptor, offset, calls)
      if failure == nil, calls.sync(descriptor) != 0 { failure = ("sync", errno) }
    }
    guard let failure else { return }
    _ = write(old, descriptor, offset, RecoveryCalls())
    _ = ftruncate(descriptor, off_t(oldSize))
    throw .system(call: failure.call, path: path, errno: failure.code)
  }

  private static func write(
    _ bytes: [UInt8], _ descriptor: Int32, _ offset: UInt64, _ calls: RecoveryCalls
  ) -> (call: String, code: Int32)? {
    bytes.withUnsafeBytes { all in
      var done = 0
      while done < all.count {
        let n = calls.write(descriptor, all.baseAddress! + done, all.count - done, off_t(offset) + off_t(done))
        if n > 0 {
          done += n
        } else if n == 0 {
          return ("write", ENOSPC)
        } else if errno != EINTR {
          return ("write", errno)
        }
      }
      return nil
    }
  }
}

/// The calls that extend a trace; tests make them fail.
struct RecoveryCalls {
  /// Like posix_fallocate, returns the error.
  var reserve: (Int32, off_t, off_t) -> Int32 = { posix_fallocate($0, $1, $2) }
  /// Like pwrite.
  var write: (Int32, UnsafeRawPointer, Int, off_t) -> Int = { pwrite($0, $1, $2, $3) }
  /// Like fsync.
  var sync: (Int32) -> Int32 = { fsync($0) }
}
