import Testing

@testable import LeakDetection
@testable import TraceReading

struct ResidentMemoryTests {
  private static let stack = MemoryRegion(range: 0x7000_0000..<0x7080_0000, kind: .anonymous)

  private func memory(
    resident: UInt64, privateBytes: UInt64, live: UInt64, stackPointers: [UInt64?] = []
  ) -> ResidentMemory? {
    ResidentMemory(
      resident: resident, privateBytes: privateBytes, liveBlocks: live,
      threads: stackPointers.enumerated().map {
        SnapshotThread(
          osThread: UInt32($0.offset), stackPointer: $0.element, threadPointer: 0, instructionPointer: 0, registers: [],
          isSelf: false)
      }, regions: [Self.stack])
  }

  @Test func partsSumToTheResidentMemory() throws {
    let parts = try #require(
      memory(resident: 100 << 20, privateBytes: 80 << 20, live: 10 << 20, stackPointers: [0x7070_0000, nil, 0x10]))
    #expect(parts.liveBlocks == 10 << 20 && parts.stacks == 1 << 20 && parts.mapped == 20 << 20)
    #expect(parts.liveBlocks + parts.stacks + parts.otherPrivate + parts.mapped == parts.resident)
    #expect(parts.deservesRemark)
  }

  @Test func untouchedBlocksTakeNoMemory() throws {
    let parts = try #require(memory(resident: 10 << 20, privateBytes: 4 << 20, live: 1 << 30))
    #expect(parts.liveBlocks == 4 << 20 && parts.otherPrivate == 0 && !parts.deservesRemark)
  }

  @Test func contradictoryFiguresGiveNoResult() {
    #expect(memory(resident: 1 << 20, privateBytes: 2 << 20, live: 0) == nil)
    #expect(memory(resident: 1 << 20, privateBytes: 0, live: 0) == nil)
  }

  /// Returns 1 GiB of resident memory. Most of it is freed memory in the given number of arenas.
  private func kept(arenas: UInt64, freePages: UInt64, inOthers: UInt64 = 0, limit: UInt64? = 0) throws
    -> ResidentMemory
  {
    var parts = try #require(memory(resident: 1 << 30, privateBytes: 1000 << 20, live: 20 << 20))
    var record = AllocatorRecord(time: 1, kind: .glibc)
    record.free = 900 << 20
    record.freePages = freePages
    record.arenas = arenas
    record.arenaLimit = limit
    record.freeInOtherArenas = inOthers
    parts.allocators = [record]
    return parts
  }

  @Test func adviceFollowsTheFigures() throws {
    let trimmed = try kept(arenas: 1, freePages: 880 << 20)
    #expect(trimmed.freed == 900 << 20 && trimmed.freePages == 880 << 20 && trimmed.deservesRemark)
    #expect(trimmed.remark.contains("malloc_trim(0)"))
    #expect(!trimmed.remark.contains("MALLOC_ARENA_MAX") && !trimmed.remark.contains("jemalloc"))
    let arenas = try kept(arenas: 16, freePages: 0, inOthers: 800 << 20)
    #expect(arenas.remark.contains("MALLOC_ARENA_MAX=2") && arenas.remark.contains("jemalloc"))
    #expect(!arenas.remark.contains("malloc_trim"))
    #expect(try !kept(arenas: 16, freePages: 0, inOthers: 800 << 20, limit: 4).remark.contains("MALLOC_ARENA_MAX"))
  }

  @Test func pinningBlockIsNamedIfMuchMemoryBelowItIsFree() throws {
    var parts = try kept(arenas: 1, freePages: 880 << 20)
    let pin = AllocatorRecord.Pin(freeBelow: 800 << 20, freeAbove: 0, address: 0x5550, bytes: 48)
    parts.pin = ResidentMemory.PinningBlock(pin: pin, type: "Session")
    #expect(parts.remark.contains("a block of 48 B (Session) at 0x5550"))
    parts.pin?.pin.freeBelow = 1 << 20
    #expect(!parts.remark.contains("Session"))
  }
}
