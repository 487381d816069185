import Foundation
import Testing
import TraceTestSupport

@testable import TraceReading

/// A temporary directory, which is removed at the end of the test.
private final class Scratch {
  let path: String
  init() throws {
    path = NSTemporaryDirectory() + "leaktrace-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }
  deinit { try? FileManager.default.removeItem(atPath: path) }

  func write(_ bytes: [UInt8], _ name: String) throws -> String {
    let file = path + "/" + name
    try Data(bytes).write(to: URL(fileURLWithPath: file))
    return file
  }

  func bytes(_ name: String) -> [UInt8]? { FileManager.default.contents(atPath: path + "/" + name).map { Array($0) } }
}

private func events(_ addresses: [UInt64]) -> EventEncoder {
  let tree = StackTree()
  let encoder = EventEncoder(stacks: tree)
  encoder.begin(firstTime: 800)
  encoder.makeTimesExact()
  for (index, address) in addresses.enumerated() {
    encoder.append(
      TraceEvent(
        operation: .malloc, address: address, size: 8, stack: tree.stack([0x10, 0x20]), time: 800 + UInt64(index) * 8))
  }
  return encoder
}

/// Returns a trace with one sealed chunk, and a live file with a second chunk.
private func leftBehind() throws -> (trace: [UInt8], live: [UInt8]) {
  var header = TraceHeader()
  header.traceID = 7
  var writer = TraceWriter(header: header)
  try writer.append([.warning("sealed")], thread: 1)
  try writer.append(events([16]), thread: 1, firstTime: 800)
  var live = LiveFileBuilder(traceID: 7)
  var slot = LiveFileBuilder.Slot(thread: 1)
  slot.definitionSequence = 1
  slot.eventSequence = 1
  slot.definitions = Definition.warning("live").encoded
  slot.events = events([32, 48]).payload
  slot.firstTime = 800
  live.slots = [slot]
  return (writer.bytes, live.bytes)
}

private enum SealedHeader {
  /// Returns the header of a chunk with another sequence number.
  static func renumbered(_ chunk: ArraySlice<UInt8>, sequence: UInt32) throws -> ArraySlice<UInt8> {
    let bytes = Array(chunk)
    var header = try #require(bytes.withUnsafeBytes { TraceChunk(header: $0.baseAddress!, offset: 0) })
    header.sequence = sequence
    let checksum = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 48, as: UInt32.self) }
    return header.encodedHeader(payloadChecksum: checksum)[...]
  }
}

@Suite struct RecoveryTests {
  @Test func liveFileMovesIntoTheTrace() throws {
    let scratch = try Scratch()
    let left = try leftBehind()
    let path = try scratch.write(left.trace, "t")
    _ = try scratch.write(left.live, "t.live")
    let tree = StackTree()
    let before = try CollectedEvents.of(TraceReader(path: path), in: tree)
    let outcome = try TraceRecovery.finish(tracePath: path, waitStatus: 9)
    #expect(
      !outcome.wasClosed && outcome.recoveredChunks == 2 && outcome.recoveredEvents == 2 && outcome.eventCount == 3)
    #expect(scratch.bytes("t.live") == nil)
    let reader = try TraceReader(path: path)
    #expect(CollectedEvents.of(reader, in: tree) == before)
    #expect(reader.definitions.warnings == ["sealed", "live"])
    #expect(reader.diagnostics.isEmpty && before.count == 3)
    let closing = try #require(reader.closing)
    #expect(closing.reason == .recovered && closing.waitStatus == 9 && closing.eventCount == 3 && closing.time == 808)
    #expect(closing.threadCount == 1)
    #expect(UInt64(scratch.bytes("t")!.count) == outcome.fileSize.rawValue)
  }

  @Test func secondRecoveryChangesNothing() throws {
    let scratch = try Scratch()
    let left = try leftBehind()
    let path = try scratch.write(left.trace, "t")
    _ = try scratch.write(left.live, "t.live")
    try TraceRecovery.finish(tracePath: path, waitStatus: 9)
    let once = scratch.bytes("t")
    #expect(try TraceRecovery.finish(tracePath: path, waitStatus: 0).wasClosed)
    #expect(scratch.bytes("t") == once)
    // Now the live file is back, as if the first recovery had been killed before it removed the file.
    _ = try scratch.write(left.live, "t.live")
    #expect(try TraceRecovery.finish(tracePath: path, waitStatus: 0).wasClosed)
    #expect(scratch.bytes("t") == once)
    #expect(scratch.bytes("t.live") == nil)
  }

  /// The trace is as if a recovery had been killed after any byte, or the process while it sealed its slots.
  @Test func recoveryFinishesATraceCutAtAnyByte() throws {
    let scratch = try Scratch()
    let left = try leftBehind()
    let path = try scratch.write(left.trace, "t")
    _ = try scratch.write(left.live, "t.live")
    try TraceRecovery.finish(tracePath: path, waitStatus: 9)
    let finished = try #require(scratch.bytes("t"))
    for length in left.trace.count..<finished.count {
      let path = try scratch.write(Array(finished.prefix(length)), "t")
      _ = try scratch.write(left.live, "t.live")
      try TraceRecovery.finish(tracePath: path, waitStatus: 9)
      let reader = try TraceReader(path: path)
      #expect(CollectedEvents.of(reader).map(\.address) == [16, 32, 48], "cut at \(length)")
      #expect(reader.closing?.reason == .recovered && reader.closing?.eventCount == 3)
      #expect(reader.diagnostics.isEmpty, "cut at \(length): \(reader.diagnostics.first)")
    }
  }

  @Test func traceWithoutALiveFileIsClosed() throws {
    let scratch = try Scratch()
    let path = try scratch.write(leftBehind().trace, "t")
    let outcome = try TraceRecovery.finish(tracePath: path, waitStatus: -1)
    #expect(outcome.recoveredChunks == 0 && outcome.eventCount == 1)
    #expect(try TraceReader(path: path).closing?.reason == .recovered)
  }

  @Test func liveFileOfAnotherTraceIsUnchanged() throws {
    let scratch = try Scratch()
    let left = try leftBehind()
    let path = try scratch.write(left.trace, "t")
    var other = left.live
    other[16] ^= 1
    _ = try scratch.write(other, "t.live")
    try TraceRecovery.finish(tracePath: path, waitStatus: 0)
    #expect(scratch.bytes("t.live") == other)
  }

  /// Half of the cases have a torn chunk at the end of the trace, which recovery overwrites.
  @Test(arguments: 0..<10)
  func failedWriteLeavesBothFilesUnchanged(failure: Int) throws {
    let scratch = try Scratch()
    var left = try leftBehind()
    if failure % 2 == 1 {
      var writer = TraceWriter(header: try TraceReader(bytes: left.trace).header)
      try writer.append(events([32, 48]), thread: 1, firstTime: 800)
      // The first 70 bytes of a chunk with the same number as the live file's events.
      var torn = writer.bytes.dropFirst(4096)
      let payload = Array(torn.dropFirst(56))
      torn = try SealedHeader.renumbered(torn, sequence: 1) + payload
      left.trace += torn.prefix(70)
    }
    let path = try scratch.write(left.trace, "t")
    _ = try scratch.write(left.live, "t.live")
    var calls = RecoveryCalls()
    switch failure / 2 {
    case 0: calls.reserve = { _, _, _ in ENOSPC }
    case 1:
      calls.write = { _, _, _, _ in
        errno = ENOSPC
        return -1
      }
    case 2:
      // Space cannot be reserved here, and then turns out to be missing.
      calls.reserve = { _, _, _ in EOPNOTSUPP }
      calls.write = { descriptor, bytes, count, offset in
        let room = left.trace.count + 30 - Int(offset)
        if room <= 0 {
          errno = ENOSPC
          return -1
        }
        return pwrite(descriptor, bytes, min(count, room), offset)
      }
    case 3: calls.write = { descriptor, bytes, count, offset in count > 5 ? pwrite(descriptor, bytes, 5, offset) : 0 }
    default:
      calls.sync = { _ in
        errno = EIO
        return -1
      }
    }
    #expect {
      try TraceRecovery.finish(tracePath: path, waitStatus: 9, calls: calls)
    } throws: { error in
      if case TraceFormatError.system = error { true } else { false }
    }
    #expect(scratch.bytes("t") == left.trace && scratch.bytes("t.live") == left.live)
    try TraceRecovery.finish(tracePath: path, waitStatus: 9)
    let reader = try TraceReader(path: path)
    #expect(CollectedEvents.of(reader).count == 3 && reader.diagnostics.isEmpty)
  }

  @Test func symbolicLinksAreNotFollowed() throws {
    let scratch = try Scratch()
    _ = try scratch.write(leftBehind().trace, "t")
    try FileManager.default.createSymbolicLink(atPath: scratch.path + "/link", withDestinationPath: "t")
    #expect(throws: TraceFormatError.self) {
      try TraceRecovery.finish(tracePath: scratch.path + "/link", waitStatus: 0)
    }
  }

  @Test func unreadableFileIsNamedInTheError() throws {
    #expect(throws: TraceFormatError.system(call: "open", path: "/nonexistent/t", errno: ENOENT)) {
      try TraceReader(path: "/nonexistent/t")
    }
    #expect(throws: TraceFormatError.system(call: "open", path: "/", errno: EISDIR)) { try TraceReader(path: "/") }
  }
}
