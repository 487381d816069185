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

  @Test func thePartsAreTheWhole() throws {
    let parts = try #require(
      memory(resident: 100 << 20, privateBytes: 80 << 20, live: 10 << 20, stackPointers: [0x7070_0000, nil, 0x10]))
    #expect(parts.liveBlocks == 10 << 20 && parts.stacks == 1 << 20 && parts.mapped == 20 << 20)
    #expect(parts.liveBlocks + parts.stacks + parts.otherPrivate + parts.mapped == parts.resident)
    #expect(parts.deservesRemark)
  }

  @Test func blocksThatWereNotTouchedTakeNoMemory() throws {
    let parts = try #require(memory(resident: 10 << 20, privateBytes: 4 << 20, live: 1 << 30))
    #expect(parts.liveBlocks == 4 << 20 && parts.otherPrivate == 0 && !parts.deservesRemark)
  }

  @Test func figuresThatContradictEachOtherAreNone() {
    #expect(memory(resident: 1 << 20, privateBytes: 2 << 20, live: 0) == nil)
    #expect(memory(resident: 1 << 20, privateBytes: 0, live: 0) == nil)
  }
}
