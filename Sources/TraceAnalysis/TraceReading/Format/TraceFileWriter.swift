// Writing a trace of another process.

import CTraceFormat
import Glibc

/// A block in the allocator's metadata of a process.
package struct ListedBlock: Hashable, Sendable {
  package var address: UInt64
  /// Bytes.
  package var size: UInt64
  /// The type ID of a Swift object; 0 for other memory.
  package var type: UInt32

  package init(address: UInt64, size: UInt64, type: UInt32 = 0) {
    self.address = address
    self.size = size
    self.type = type
  }
}

/// Creates a file and appends chunks to it. The file is a readable trace after the first call of `append`. For one
/// thread at a time.
///
/// Owns its descriptor. If a write fails, the file may end inside a chunk, like the trace of a process that was killed.
package final class TraceFileWriter {
  private let descriptor: Int32
  private let path: String
  private var sequences: [ChunkKind: UInt32] = [:]
  /// Bytes written so far.
  package private(set) var size: UInt64 = 0
  /// The number of events in all chunks.
  package private(set) var eventCount: UInt64 = 0

  /// Creates the file, which must not exist yet. Only this user can read it.
  package init(path: String, header: TraceHeader) throws(TraceFormatError) {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor < 0 { throw .system(call: "create", path: path, errno: errno) }
    var page = header.encoded()
    page.append(contentsOf: repeatElement(0, count: Int(LT_TRACE_HEADER_SIZE) - page.count))
    try write(page)
  }

  deinit { close(descriptor) }

  private func write(_ bytes: [UInt8]) throws(TraceFormatError) {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + done, $0.count - done) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .system(call: "write", path: path, errno: count == 0 ? ENOSPC : errno) }
      done += count
    }
    size += UInt64(bytes.count)
  }

  private func append(
    _ kind: ChunkKind, _ payload: [UInt8], thread: UInt32 = 0, time: UInt64 = 0, events: UInt64 = 0,
    compression: SealedChunk.Compression = .zstd
  ) throws(TraceFormatError) {
    var chunk = TraceChunk(
      kind: kind, thread: thread, sequence: sequences[kind, default: 0], firstTime: time, lastTime: time,
      eventCount: events, compression: 0, storedSize: 0, rawSize: 0, place: .trace(FileOffset(0)))
    try write(try SealedChunk.encode(&chunk, payload: payload, compression: compression))
    sequences[kind, default: 0] += 1
    eventCount += events
  }

  package func append(_ definitions: [Definition]) throws(TraceFormatError) {
    if !definitions.isEmpty { try append(.definitions, definitions.flatMap(\.encoded)) }
  }

  /// A chunk of events ends when it has at least this many bytes.
  private static let eventBytes = 1 << 20

  /// Appends allocations of the blocks, without stacks, at a time in ticks.
  package func append(_ blocks: some Sequence<ListedBlock>, time: UInt64) throws(TraceFormatError) {
    var payload = ByteBuilder()
    var count: UInt64 = 0
    var last: UInt64 = 0
    for block in blocks {
      let operation = UInt8(block.type != 0 ? LT_OP_OBJECT.rawValue : LT_OP_MALLOC.rawValue)
      payload.byte(operation | UInt8(LT_TAG_OPERANDS))
      let difference = Int64(bitPattern: block.address &- last)
      payload.byte(UInt8(difference & 15 == 0 ? LT_ADDRESS_DELTA16 : LT_ADDRESS_DELTA))
      // The stack change: no pops and no pushes, so the stack stays empty.
      payload.varint(0)
      payload.varint(0)
      payload.zigzag(difference & 15 == 0 ? difference / 16 : difference)
      payload.varint(block.size)
      if block.type != 0 { payload.varint(UInt64(block.type)) }
      last = block.address
      count += 1
      if payload.bytes.count >= Self.eventBytes {
        try append(.events, payload.bytes, thread: 1, time: time, events: count)
        (payload, count, last) = (ByteBuilder(), 0, 0)
      }
    }
    if count > 0 { try append(.events, payload.bytes, thread: 1, time: time, events: count) }
  }

  /// Begins a heap image.
  package func appendSnapshot(
    _ head: lt_snapshot, threads: [WrittenThread], regions: [lt_snapshot_region]
  ) throws(TraceFormatError) {
    var head = head
    head.threadCount = UInt32(threads.count)
    head.regionCount = UInt32(regions.count)
    head.labelSize = 0
    var payload = rawBytes(of: head)
    for thread in threads {
      payload += rawBytes(of: thread.state)
      thread.registers.withUnsafeBytes { payload.append(contentsOf: $0) }
    }
    regions.withUnsafeBytes { payload.append(contentsOf: $0) }
    try append(.snapshot, payload, time: head.time)
  }

  /// Appends a part of a heap image's words, in the form of `lt_memory_part`.
  package func appendMemory(_ part: UnsafeBufferPointer<UInt8>, time: UInt64) throws(TraceFormatError) {
    try append(.memory, Array(part), time: time)
  }

  package func appendSnapshotEnd(_ end: lt_snapshot_end, time: UInt64) throws(TraceFormatError) {
    try append(.snapshotEnd, rawBytes(of: end), time: time, compression: .none)
  }

  package func append(_ closing: TraceClosing) throws(TraceFormatError) {
    try append(.closing, closing.encoded(), compression: .none)
  }
}

/// A thread of a heap image. The processor determines the number of its registers, not the machine that writes.
package struct WrittenThread {
  package var state: lt_snapshot_thread_state
  /// In the trace's order; 0 where nothing is known.
  package var registers: [UInt64]

  /// - Parameter registers: The first registers of the processor in the trace's order.
  package init(_ state: lt_snapshot_thread_state, registers: [UInt64], _ processor: Processor) {
    let count = Int(processor == .arm64 ? LT_SNAPSHOT_REGISTERS_ARM64 : LT_SNAPSHOT_REGISTERS_X86_64)
    self.state = state
    self.registers = registers + Array(repeating: 0, count: count - registers.count)
  }
}
