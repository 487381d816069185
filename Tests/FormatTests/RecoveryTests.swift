import Foundation
import Testing
import TraceTestSupport

@testable import TraceAnalysis

/// A directory that goes away with the test.
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
    encoder.append(TraceEvent(operation: .malloc, address: address, size: 8, stack: tree.stack([0x10, 0x20]), time: 800 + UInt64(index) * 8))
  }
  return encoder
}

/// A trace of one sealed chunk, and the live file with a second.
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

@Suite struct RecoveryTests {
  @Test func theLiveFileMovesIntoTheTrace() throws {
    let scratch = try Scratch()
    let left = try leftBehind()
    let path = try scratch.write(left.trace, "t")
    _ = try scratch.write(left.live, "t.live")
    let tree = StackTree()
    let before = try CollectedEvents.of(TraceReader(path: path), in: tree)
    let outcome = try TraceRecovery.finish(tracePath: path, waitStatus: 9)
    #expect(!outcome.wasClosed && outcome.recoveredChunks == 2 && outcome.recoveredEvents == 2 && outcome.eventCount == 3)
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

  @Test func aSecondRunChangesNothing() throws {
    let scratch = try Scratch()
    let left = try leftBehind()
    let path = try scratch.write(left.trace, "t")
    _ = try scratch.write(left.live, "t.live")
    try TraceRecovery.finish(tracePath: path, waitStatus: 9)
    let once = scratch.bytes("t")
    #expect(try TraceRecovery.finish(tracePath: path, waitStatus: 0).wasClosed)
    #expect(scratch.bytes("t") == once)
    // As if the first run had been killed before it removed the live file.
    _ = try scratch.write(left.live, "t.live")
    #expect(try TraceRecovery.finish(tracePath: path, waitStatus: 0).wasClosed)
    #expect(scratch.bytes("t") == once)
    #expect(scratch.bytes("t.live") == nil)
  }

  /// As if a recovery had been killed at any byte, or the process in the middle of sealing its slots.
  @Test func aTraceCutAnywhereIsFinishedFromTheSameLiveFile() throws {
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

  @Test func aTraceWithoutLiveFileIsClosed() throws {
    let scratch = try Scratch()
    let path = try scratch.write(leftBehind().trace, "t")
    let outcome = try TraceRecovery.finish(tracePath: path, waitStatus: -1)
    #expect(outcome.recoveredChunks == 0 && outcome.eventCount == 1)
    #expect(try TraceReader(path: path).closing?.reason == .recovered)
  }

  @Test func aLiveFileOfAnotherTraceIsLeftAlone() throws {
    let scratch = try Scratch()
    let left = try leftBehind()
    let path = try scratch.write(left.trace, "t")
    var other = left.live
    other[16] ^= 1
    _ = try scratch.write(other, "t.live")
    try TraceRecovery.finish(tracePath: path, waitStatus: 0)
    #expect(scratch.bytes("t.live") == other)
  }

  @Test func withoutRoomBothFilesStayAsTheyWere() throws {
    let scratch = try Scratch()
    let left = try leftBehind()
    let path = try scratch.write(left.trace, "t")
    _ = try scratch.write(left.live, "t.live")
    // A limit on file sizes fails as a full disk does, and can be had without one.
    var old = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &old)
    let handler = signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit(rlim_cur: rlim_t(left.trace.count + 40), rlim_max: old.rlim_max)
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    defer {
      setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &old)
      signal(SIGXFSZ, handler)
    }
    #expect {
      try TraceRecovery.finish(tracePath: path, waitStatus: 9)
    } throws: { error in
      if case TraceFormatError.system = error { true } else { false }
    }
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &old)
    #expect(scratch.bytes("t") == left.trace && scratch.bytes("t.live") == left.live)
    try TraceRecovery.finish(tracePath: path, waitStatus: 9)
    #expect(try CollectedEvents.of(TraceReader(path: path)).count == 3)
  }

  @Test func symbolicLinksAreNotFollowed() throws {
    let scratch = try Scratch()
    _ = try scratch.write(leftBehind().trace, "t")
    try FileManager.default.createSymbolicLink(atPath: scratch.path + "/link", withDestinationPath: "t")
    #expect(throws: TraceFormatError.self) { try TraceRecovery.finish(tracePath: scratch.path + "/link", waitStatus: 0) }
  }

  @Test func filesThatCannotBeReadAreNamedInTheError() throws {
    #expect(throws: TraceFormatError.system(call: "open", path: "/nonexistent/t", errno: ENOENT)) {
      try TraceReader(path: "/nonexistent/t")
    }
    #expect(throws: TraceFormatError.system(call: "open", path: "/", errno: EISDIR)) { try TraceReader(path: "/") }
  }
}
