import Testing
import TraceTestSupport

@testable import TraceReading

private func reader(_ chunks: [[Definition]]) throws -> TraceReader {
  var writer = TraceWriter()
  for (index, chunk) in chunks.enumerated() { try writer.append(chunk, thread: UInt32(index)) }
  return try TraceReader(bytes: writer.bytes)
}

@Suite struct DefinitionTests {
  @Test func everyDefinitionRoundTrips() throws {
    var allocator = AllocatorRecord(time: 3, kind: .jemalloc)
    (allocator.inUse, allocator.free, allocator.cached, allocator.top) = (1, 2, 3, 4)
    (allocator.mapped, allocator.freePages, allocator.system, allocator.arenas) = (5, 6, 7, 8)
    (allocator.arenaLimit, allocator.freeInOtherArenas) = (0, 9)
    allocator.pins = [AllocatorRecord.Pin(freeBelow: 1, freeAbove: 2, address: 3, bytes: 4)]
    let all: [Definition] = [
      .type(
        TraceType(
          id: 3, metadata: RuntimeAddress(0x7000), kind: .closureContext, descriptor: RuntimeAddress(0x88),
          name: "Größe", superclass: 2)),
      .imageLoaded(
        LoadedImage(
          path: "/lib/ä.so", buildID: [0, 255, 3], loadBias: 0xFFFF_FFFF_FFFF_F000,
          range: RuntimeAddress(1)..<RuntimeAddress(.max)),
        time: 6),
      .imageUnloaded(first: RuntimeAddress(1), end: RuntimeAddress(.max), time: 60),
      .clock(ClockSample(time: 1, monotonic: 2)), .clock(ClockSample(time: 3, monotonic: 4, boot: 5)),
      .memory(MemorySample(time: 1, resident: 2, recorder: 3, peakResident: 4)),
      .process(ProcessRecord(executable: "/bin/x", flags: 15)), .pause(PauseRecord(begins: true, time: 9)),
      .pause(PauseRecord(begins: false, time: 10)), .thread(ThreadRecord(thread: 4, osThread: 5, time: 6)),
      .warning("look out"),
      .threadStack(
        ThreadStack(
          osThread: 5, ownNumber: 2, name: "worker", activity: .inCall(219),
          frames: [
            .init(key: FrameKey(address: RuntimeAddress(0x4000), isExact: true, isAsync: false), stackPointer: 0x7000),
            .init(key: FrameKey(address: RuntimeAddress(0x5000), isExact: false, isAsync: false), stackPointer: 0x6000),
          ], end: .cut)),
      .threadStack(ThreadStack(osThread: 6, activity: .computing, end: .unknown)),
      .allocator(allocator),
      .residence(ResidenceRecord(time: 1, anonymous: 2, other: 3, hugePages: 4, swapped: 5)),
      .sampleTotals(
        SampleTotals(
          time: 1, allocatedObjects: 2, allocatedBytes: 3, freedObjects: 4, freedBytes: 5, samples: 6, withoutStack: 7,
          leftOut: 8)),
      .sampledSite(
        SampledSite(
          time: 1, number: 2, allocated: .init(samples: 9, objects: 100, bytes: .max, variance: 65536),
          freed: .init(samples: 10, objects: 40, bytes: 1, variance: 0),
          frames: [
            FrameKey(address: RuntimeAddress(0x5000), isExact: false, isAsync: false),
            FrameKey(address: RuntimeAddress(0x4000), isExact: true, isAsync: false),
          ])),
      .limit(ReachedLimit(time: 11, bytes: 1 << 31, samplePeriod: 1 << 19)),
      .unknown(kind: 200, size: 3),
    ]
    let reader = try reader([all])
    var found: [Definition] = []
    ChunkWalker(reader).definitions(inChunk: 0) { definition, _ in found.append(definition) }
    #expect(found == all)
    #expect(reader.diagnostics.isEmpty)
    let model = reader.definitions
    #expect(model.types[3]?.displayName == "closure context or box (Größe)")
    #expect(model.process.isForked && model.process.executable == "/bin/x")
    #expect(model.images[0].loadTime == 6 && model.images[0].unloadTime == 60)
    #expect(model.warnings == ["look out"] && model.threads[0].osThread == 5 && model.pauses.count == 2)
    #expect(model.threadStacks[5]?.frames.count == 2 && model.threadStacks[6]?.activity == .computing)
    #expect(model.memorySamples[0].residentOfProgram == 0)
    #expect(model.sampleTotals.first?.liveBytes == 0)
    let live = try #require(model.sampledSites.first).live
    #expect(live == .init(samples: 0, objects: 60, bytes: .max - 1, variance: 65536))
    // The estimate from one small sample may be wrong by one period.
    #expect(live.byteError(period: 512) == 512)
  }

  @Test func fieldsAddedAtTheEndOfARecordAreIgnored() throws {
    var writer = TraceWriter()
    // A clock record that has a fourth field.
    try writer.append(kind: .definitions, thread: 0, payload: [5, 4, 1, 2, 3, 4] + Definition.warning("after").encoded)
    let reader = try TraceReader(bytes: writer.bytes)
    #expect(reader.diagnostics.isEmpty)
    #expect(reader.definitions.clockSamples == [ClockSample(time: 1, monotonic: 2, boot: 3)])
    #expect(reader.definitions.warnings == ["after"])
  }

  @Test func imageThatEndsBeforeItsStartIsDamage() throws {
    let reader = try reader([
      [
        .imageLoaded(
          LoadedImage(path: "/x", buildID: [], loadBias: 0, range: RuntimeAddress(8)..<RuntimeAddress(8)), time: 0),
        .warning("after"),
      ]
    ])
    #expect(reader.diagnostics.isEmpty)
    var writer = TraceWriter()
    // An image with bias 0, and the invalid range from 2 to 1.
    try writer.append(
      kind: .definitions, thread: 0, payload: [3, 6, 0, 2, 1, 0, 0, 0] + Definition.warning("after").encoded)
    let damaged = try TraceReader(bytes: writer.bytes)
    #expect(damaged.diagnostics.first.map(\.kind) == [.damagedDefinition(kind: 3, payloadOffset: 0)])
    #expect(damaged.definitions.warnings == ["after"])
  }

  @Test func clockRateIsMeasuredOnlyOverLongSpans() throws {
    var header = TraceHeader()
    header.ticksPerSecond = 3_000_000_000
    header.startTime = 1000
    header.startMonotonic = 5_000_000_000
    let long = TraceClock(
      header: header, samples: [ClockSample(time: 1000 + 4_000_000_000, monotonic: 7_000_000_000)], closing: nil)
    #expect(long.ticksPerSecond == 2e9 && long.seconds(at: 1000 + 1_000_000_000) == 0.5)
    let short = TraceClock(header: header, samples: [ClockSample(time: 2000, monotonic: 5_000_001_000)], closing: nil)
    #expect(short.ticksPerSecond == 3e9)
    header.ticksPerSecond = 0
    #expect(TraceClock(header: header, samples: [], closing: nil).seconds(at: 5) == nil)
    #expect(long.seconds(at: 0)! < 0)
  }

  @Test func typeNumberedByTwoThreadsGetsTheLowerNumber() {
    func type(_ id: UInt32, _ metadata: UInt64, _ name: String) -> TraceType {
      TraceType(id: id, metadata: RuntimeAddress(metadata), kind: .class, name: name)
    }
    var definitions = TraceDefinitions()
    // The last type has the metadata address of a class whose library was unloaded. The types with address 0 say
    // nothing.
    for type in [
      type(4, 0x1000, "Sample"), type(2, 0x1000, "Sample"), type(3, 0x2000, "Sample"), type(5, 0, ""), type(6, 0, ""),
      type(7, 0x2000, "Other"),
    ] {
      definitions.types[type.id] = type
    }
    #expect(definitions.repeatedTypes == [4: 2])
  }
}
