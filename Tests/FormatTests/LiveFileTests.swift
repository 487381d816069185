import Testing
import TraceTestSupport

@testable import TraceReading

private func payload(_ addresses: [UInt64]) -> [UInt8] {
  let encoder = EventEncoder(stacks: StackTree())
  encoder.begin(firstTime: 0)
  for address in addresses { encoder.append(TraceEvent(operation: .malloc, address: address, size: 8)) }
  return encoder.payload
}

private func trace(sealed: Int) throws -> [UInt8] {
  var header = TraceHeader()
  header.traceID = 7
  var writer = TraceWriter(header: header)
  for index in 0..<sealed {
    try writer.append(kind: .events, thread: 1, payload: payload([UInt64(index + 1) * 16]), eventCount: 1)
  }
  return writer.bytes
}

private func live(_ change: (inout LiveFileBuilder) -> Void = { _ in }) -> [UInt8] {
  var live = LiveFileBuilder(traceID: 7)
  var slot = LiveFileBuilder.Slot(thread: 1)
  slot.osThread = 4321
  slot.eventSequence = 2
  slot.events = payload([0x900, 0xA00])
  slot.definitions = Definition.warning("live").encoded
  live.slots = [slot]
  change(&live)
  return live.bytes
}

@Suite struct LiveFileTests {
  @Test func slotsAreReadAsFurtherChunks() throws {
    let reader = try TraceReader(bytes: trace(sealed: 2), liveBytes: live())
    #expect(CollectedEvents.of(reader).map(\.address) == [16, 32, 0x900, 0xA00])
    #expect(reader.definitions.warnings == ["live"])
    #expect(reader.definitions.threads.map(\.osThread) == [4321])
    #expect(reader.diagnostics.isEmpty && reader.hasLiveFile && reader.closing == nil)
  }

  @Test(arguments: [0, 4096, 16384, 65536] as [UInt32])
  func slotsFollowAHeaderOfAnyPageSize(headerSize: UInt32) throws {
    let reader = try TraceReader(bytes: trace(sealed: 2), liveBytes: live { $0.headerSize = headerSize })
    #expect(CollectedEvents.of(reader).map(\.address) == [16, 32, 0x900, 0xA00])
    #expect(reader.diagnostics.isEmpty)
  }

  @Test(arguments: [1, 3, 104, 4095, 8192, 1 << 20, .max] as [UInt32])
  func liveFileWithAnImpossibleHeaderSizeIsIgnored(headerSize: UInt32) throws {
    let reader = try TraceReader(bytes: trace(sealed: 2), liveBytes: live { $0.headerSize = headerSize })
    #expect(CollectedEvents.of(reader).count == 2 && !reader.hasLiveFile)
    #expect(
      reader.diagnostics.first.map(\.kind) == [
        .liveFileIgnored(reason: "its header is said to have \(headerSize) bytes")
      ])
  }

  @Test func alreadySealedSlotIsIgnored() throws {
    let reader = try TraceReader(bytes: trace(sealed: 3), liveBytes: live())
    #expect(CollectedEvents.of(reader).map(\.address) == [16, 32, 48])
    #expect(reader.definitions.warnings == ["live"])
  }

  @Test func lossBetweenTraceAndSlotIsReported() throws {
    let reader = try TraceReader(bytes: trace(sealed: 1), liveBytes: live())
    #expect(reader.diagnostics.first.map(\.kind) == [.missingChunks(thread: 1, kind: .events, sequences: 1...1)])
  }

  @Test func liveFileOfAnotherTraceIsIgnored() throws {
    let reader = try TraceReader(bytes: trace(sealed: 2), liveBytes: live { $0.traceID = 8 })
    #expect(CollectedEvents.of(reader).count == 2 && !reader.hasLiveFile)
    #expect(reader.diagnostics.count == 1)
  }

  @Test func freeSlotsAreEmpty() throws {
    let reader = try TraceReader(bytes: trace(sealed: 2), liveBytes: live { $0.slots[0].thread = 0 })
    #expect(CollectedEvents.of(reader).count == 2 && reader.diagnostics.isEmpty)
  }

  @Test(
    arguments: [
      [64, 64, 0, 80], [64, 64, 80, 70], [64, 64, 64, .max], [.max, .max - 1, 64, 64], [64, 64, 63, 80],
      [0, 100, 64, 64], [64, 5000, 64, 4097],
    ] as [[UInt32]])
  func offsetsOutsideTheSlotAreReportedAsDamage(offsets: [UInt32]) throws {
    let reader = try TraceReader(bytes: trace(sealed: 2), liveBytes: live { $0.slots[0].offsets = offsets })
    #expect(reader.diagnostics.first.contains { if case .damagedSlot = $0.kind { true } else { false } })
    _ = CollectedEvents.of(reader)
  }

  @Test func hugeSlotCountsAndSizesAreLimitedByTheFile() throws {
    for change in [
      { $0.slotCount = .max }, { $0.slotSize = .max }, { $0.slotSize = 0 }, { $0.slotSize = 64 }, { $0.version = 9 },
    ] as [(inout LiveFileBuilder) -> Void] {
      var builder = LiveFileBuilder(traceID: 7)
      builder.slotSize = 256
      var bytes = live()
      // Change only the header. The builder would pad slots to their size.
      change(&builder)
      builder.slots = []
      builder.slotCount = builder.slotCount ?? 1
      bytes.replaceSubrange(0..<4096, with: builder.bytes)
      let reader = try TraceReader(bytes: trace(sealed: 2), liveBytes: bytes)
      _ = CollectedEvents.of(reader)
    }
  }

  @Test func truncatedLiveFileNeverCrashesTheReader() throws {
    let trace = try trace(sealed: 2)
    let live = live()
    for length in Array(0..<100) + Array(4080..<4300) {
      let reader = try TraceReader(bytes: trace, liveBytes: Array(live.prefix(length)))
      #expect(CollectedEvents.of(reader).count >= 2)
    }
  }

  @Test(arguments: 0..<10)
  func flippedBitsInALiveFileNeverCrashTheReader(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let trace = try trace(sealed: 2)
    let live = live()
    for _ in 0..<300 {
      var damaged = live
      for _ in 0..<3 {
        let position =
          random.oneIn(3) ? Int.random(in: 0..<32, using: &random) : Int.random(in: 4096..<4240, using: &random)
        damaged[position] ^= 1 << UInt8(random.next() % 8)
      }
      #expect(readAll(trace, live: damaged) != nil)
    }
  }
}
