import Testing
import TraceTestSupport

@testable import TraceAnalysis

private func reader(_ chunks: [[Definition]]) throws -> TraceReader {
  var writer = TraceWriter()
  for (index, chunk) in chunks.enumerated() { try writer.append(chunk, thread: UInt32(index)) }
  return try TraceReader(bytes: writer.bytes)
}

extension StackTree {
  /// Addresses from the innermost outwards.
  func addresses(_ stack: UInt32) -> [UInt64] { path(of: node(of: StackID(stack))).frames.map(\.key.address.rawValue) }
}

@Suite struct DefinitionTests {
  @Test func everyDefinitionIsReadAsItWasWritten() throws {
    let all: [Definition] = [
      .stack(first: 1, parent: 0, keys: [0x1000, 0x900, 1 << 63 | 0x5000, 1 << 62 | 0x10]), .stack(first: 9, parent: 2, keys: []),
      .type(
        TraceType(
          id: 3, metadata: RuntimeAddress(0x7000), kind: .closureContext, descriptor: RuntimeAddress(0x88), name: "Größe", superclass: 2)),
      .imageLoaded(
        LoadedImage(path: "/lib/ä.so", buildID: [0, 255, 3], loadBias: 0xFFFF_FFFF_FFFF_F000, range: RuntimeAddress(1)..<RuntimeAddress(.max)),
        nextNode: 5, time: 6),
      .imageUnloaded(first: RuntimeAddress(1), end: RuntimeAddress(.max), nextNode: 50, time: 60),
      .clock(ClockSample(time: 1, monotonic: 2)), .memory(MemorySample(time: 1, resident: 2, recorder: 3, peakResident: 4)),
      .process(ProcessRecord(executable: "/bin/x", flags: 15)), .pause(PauseRecord(begins: true, time: 9)),
      .pause(PauseRecord(begins: false, time: 10)), .thread(ThreadRecord(thread: 4, osThread: 5, time: 6)), .warning("look out"),
      .unknown(kind: 200, size: 3),
    ]
    let reader = try reader([all])
    var found: [Definition] = []
    ChunkWalker(reader).definitions(inChunk: 0) { definition, _ in found.append(definition) }
    #expect(found == all)
    #expect(reader.diagnostics.isEmpty)
    let model = reader.definitions
    #expect(model.types[3]?.displayName == "closure context or box (Größe)")
    #expect(model.process.isForked && model.process.hidesMalloc && model.process.executable == "/bin/x")
    #expect(model.images[0].nodes == 5..<50 && model.images[0].unloadTime == 60)
    #expect(model.warnings == ["look out"] && model.threads[0].osThread == 5 && model.pauses.count == 2)
    #expect(model.memorySamples[0].residentOfProgram == 0)
  }

  @Test func fieldsAddedAtTheEndOfARecordAreIgnored() throws {
    var writer = TraceWriter()
    // A clock record with a third field.
    try writer.append(kind: .definitions, thread: 0, payload: [5, 3, 1, 2, 3] + Definition.warning("after").encoded)
    let reader = try TraceReader(bytes: writer.bytes)
    #expect(reader.diagnostics.isEmpty)
    #expect(reader.definitions.clockSamples == [ClockSample(time: 1, monotonic: 2)])
    #expect(reader.definitions.warnings == ["after"])
  }

  @Test func flagsOfFrameKeysAreTakenApart() throws {
    let tree = try reader([[.stack(first: 1, parent: 0, keys: [0x1000, 1 << 62 | 0x2000, 1 << 63 | 0x3000])]]).definitions.stacks
    let frames = tree.path(of: tree.node(of: StackID(3))).frames.map(\.key)
    #expect(
      frames == [
        FrameKey(address: RuntimeAddress(0x3000), isExact: true, isAsync: true),
        FrameKey(address: RuntimeAddress(0x2000), isExact: true, isAsync: false),
        FrameKey(address: RuntimeAddress(0x1000), isExact: false, isAsync: false),
      ])
    #expect(frames.map(\.encoded) == [0x8000_0000_0000_3000, 0x4000_0000_0000_2000, 0x1000])
  }

  @Test func equalStacksUnderDifferentNumbersAreOneNode() throws {
    let tree = try reader([
      [.stack(first: 1, parent: 0, keys: [0x10, 0x20])], [.stack(first: 7, parent: 0, keys: [0x10]), .stack(first: 8, parent: 7, keys: [0x20])],
    ]).definitions.stacks
    #expect(tree.node(of: StackID(2)) == tree.node(of: StackID(8)))
    #expect(tree.node(of: StackID(1)) == tree.node(of: StackID(7)))
    #expect(tree.nodeCount == 4)
  }

  @Test func parentsMayBeDefinedInLaterChunks() throws {
    let tree = try reader([[.stack(first: 5, parent: 2, keys: [0x30])], [.stack(first: 1, parent: 0, keys: [0x10, 0x20])]]).definitions.stacks
    #expect(tree.addresses(5) == [0x30, 0x20, 0x10])
  }

  @Test func nodesWithoutParentsAndCyclesHangFromTheUnknownStack() throws {
    let reader = try reader([
      [
        .stack(first: 1, parent: 99, keys: [0x10]), .stack(first: 2, parent: 3, keys: [0x20]), .stack(first: 3, parent: 2, keys: [0x30]),
        .stack(first: 4, parent: 4, keys: [0x40]), .stack(first: 6, parent: 0, keys: [0x60]),
      ]
    ])
    let tree = reader.definitions.stacks
    for stack in [1, 2, 3, 4] as [UInt32] { #expect(tree.path(of: tree.node(of: StackID(stack))).end == .undefined) }
    #expect(tree.addresses(4) == [0x40])
    #expect(Set([tree.addresses(2), tree.addresses(3)]) == [[0x20, 0x30], [0x30]])
    #expect(tree.path(of: tree.node(of: StackID(6))).end == .complete)
    #expect(tree.node(of: StackID(500)) == .unknown)
    #expect(reader.diagnostics.first.map(\.kind) == [.detachedStackNodes(count: 3)])
  }

  @Test func theFirstDefinitionOfANumberCounts() throws {
    let tree = try reader([[.stack(first: 1, parent: 0, keys: [0x10])], [.stack(first: 1, parent: 0, keys: [0x99])]]).definitions.stacks
    #expect(tree.addresses(1) == [0x10])
  }

  @Test func keyZeroMeansThatTheStackWasCut() throws {
    let tree = try reader([[.stack(first: 1, parent: 0, keys: [0, 0x10])]]).definitions.stacks
    let path = tree.path(of: tree.node(of: StackID(2)))
    #expect(path.end == .cut && path.frames.map(\.key.address.rawValue) == [0x10])
  }

  @Test func hugeNodeNumbersTakeNoMemory() throws {
    let ids: [UInt32] = [1, 1 << 20, 1 << 31, .max - 1]
    let reader = try reader([ids.map { .stack(first: $0, parent: 0, keys: [UInt64($0)]) } + [.stack(first: .max, parent: 1 << 31, keys: [5])]])
    let tree = reader.definitions.stacks
    for id in ids { #expect(tree.addresses(id) == [UInt64(id)]) }
    #expect(tree.addresses(.max) == [5, 1 << 31])
    // One more than the last number there is.
    #expect(try TraceReader(bytes: {
      var writer = TraceWriter()
      try writer.append([.stack(first: .max, parent: 0, keys: [1, 2])])
      return writer.bytes
    }()).diagnostics.first.map(\.kind) == [.damagedDefinition(kind: 1, payloadOffset: 0)])
  }

  @Test func deepStacksNeedNoDeepRecursion() throws {
    let depth = 300_000
    let reader = try reader([(1...UInt32(depth)).reversed().map { .stack(first: $0, parent: $0 - 1, keys: [UInt64($0)]) }])
    #expect(reader.definitions.stacks.addresses(UInt32(depth)).count == depth)
  }

  @Test func countsBeyondTheRecordAreDamage() throws {
    var writer = TraceWriter()
    // first 1, parent 0, count 2^60, one key.
    try writer.append(kind: .definitions, thread: 0, payload: [1, 12, 1, 0] + [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10] + [2])
    let reader = try TraceReader(bytes: writer.bytes)
    #expect(reader.diagnostics.first.map(\.kind) == [.damagedDefinition(kind: 1, payloadOffset: 0)])
  }

  @Test func framesBelongToTheImageThatWasLoadedThen() throws {
    func image(_ path: String) -> LoadedImage {
      LoadedImage(path: path, buildID: [], loadBias: 0, range: RuntimeAddress(0x1000)..<RuntimeAddress(0x2000))
    }
    let model = try reader([
      [
        // Unload first in the file: threads write in any order.
        .imageUnloaded(first: RuntimeAddress(0x1000), end: RuntimeAddress(0x2000), nextNode: 10, time: 20),
        .imageLoaded(image("/first"), nextNode: 5, time: 10), .imageLoaded(image("/second"), nextNode: 12, time: 30),
        .stack(first: 4, parent: 0, keys: [0x1500]), .stack(first: 5, parent: 0, keys: [0x1500]), .stack(first: 9, parent: 0, keys: [0x1500]),
        .stack(first: 11, parent: 0, keys: [0x1500]), .stack(first: 12, parent: 0, keys: [0x1500]),
        // A return address at the very end belongs to the call before it; an exact one does not.
        .stack(first: 13, parent: 0, keys: [0x2000]), .stack(first: 14, parent: 0, keys: [1 << 62 | 0x2000]),
        .stack(first: 15, parent: 0, keys: [0x1000]),
      ]
    ]).definitions
    func path(_ stack: UInt32) -> String? {
      model.stacks.frame(of: model.stacks.node(of: StackID(stack)))?.image.map { model.images[$0].image.path }
    }
    #expect(path(4) == nil)
    #expect(path(5) == "/first" && path(9) == "/first")
    #expect(path(11) == nil)
    #expect(path(12) == "/second" && path(13) == "/second")
    #expect(path(14) == nil && path(15) == nil)
    #expect(model.stacks.node(of: StackID(5)) == model.stacks.node(of: StackID(9)))
    #expect(model.stacks.node(of: StackID(5)) != model.stacks.node(of: StackID(12)))
  }

  @Test func theClocksRateIsMeasuredOverLongSpansAndBelievedOverShortOnes() throws {
    var header = TraceHeader()
    header.ticksPerSecond = 3_000_000_000
    header.startTime = 1000
    header.startMonotonic = 5_000_000_000
    let long = TraceClock(header: header, samples: [ClockSample(time: 1000 + 4_000_000_000, monotonic: 7_000_000_000)], closing: nil)
    #expect(long.ticksPerSecond == 2e9 && long.seconds(at: 1000 + 1_000_000_000) == 0.5)
    let short = TraceClock(header: header, samples: [ClockSample(time: 2000, monotonic: 5_000_001_000)], closing: nil)
    #expect(short.ticksPerSecond == 3e9)
    header.ticksPerSecond = 0
    #expect(TraceClock(header: header, samples: [], closing: nil).seconds(at: 5) == nil)
    #expect(long.seconds(at: 0)! < 0)
  }
}
