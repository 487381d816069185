// Reading the memory of a running process: this process.

import Glibc
import Testing
import TraceReading

@testable import ProcessInspection

@Suite struct LiveProcessMemoryTests {
  @Test func memoryIsReadUpToTheFirstUnreadablePage() throws {
    let page = Int(MemoryWindow.pageSize)
    let base = try #require(mmap(nil, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
    defer { munmap(base, 4 * page) }
    let start = UInt64(UInt(bitPattern: base))
    (base + page).storeBytes(of: 0x0123_4567_89AB_CDEF, as: UInt64.self)
    mprotect(base + 3 * page, page, PROT_NONE)
    let memory = try LiveProcessMemory(processID: getpid())
    #expect(MemoryWindow(memory, capacity: page).word(at: start + UInt64(page)) == 0x0123_4567_89AB_CDEF)
    #expect(memory.bytes(at: start + 3 * UInt64(page) - 8, count: 16).count == 8)
    #expect(memory.bytes(at: start + 3 * UInt64(page), count: 16).isEmpty && memory.bytes(at: 8, count: 8).isEmpty)
    let mapping = try #require(memory.mappings.mapping(at: start))
    #expect(mapping.isWritable && mapping.isPrivateAnonymous)
    #expect(memory.mappings.contains { $0.file?.name == "libc.so.6" && $0.isExecutable })
  }

  @Test func untouchedPagesAreDetected() throws {
    let page = Int(MemoryWindow.pageSize)
    let base = try #require(mmap(nil, 64 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
    defer { munmap(base, 64 * page) }
    let start = UInt64(UInt(bitPattern: base))
    madvise(base, 64 * page, MADV_NOHUGEPAGE)
    for touched in [3, 4, 9] { (base + touched * page).storeBytes(of: 1, as: UInt8.self) }
    let memory = try LiveProcessMemory(processID: getpid())
    func pages(_ range: Range<UInt64>) -> Range<UInt64> {
      start + range.lowerBound << 12..<start + range.upperBound << 12
    }
    #expect(memory.writtenRanges(in: pages(0..<64)) == [pages(3..<5), pages(9..<10)])
    #expect(
      memory.writtenRanges(in: pages(4..<9)) == [pages(4..<5)] && memory.writtenRanges(in: pages(10..<12)).isEmpty)
  }

  @Test func missingProcessIsRefused() {
    #expect(throws: InspectionError.noSuchProcess(0x3FFF_FFFF)) { try LiveProcessMemory(processID: 0x3FFF_FFFF) }
  }

  @Test func malformedMappingLinesAreSkipped() {
    let text = """
      5500-5600 rw-p 00000000 00:00 0                          [heap]
      7000-8000 r-xp 00001000 08:01 42                         /a b (deleted)
      8000-7000 r-xp 00001000 08:01 42 /x
      zz-8000 r-xp 00001000 08:01 42 /x
      9000 r-xp
      fffffffffffff000-ffffffffffffffff rw-p 00000000 00:00 0
      a000-b000 rw-s 00000000 00:01 7

      """
    let mappings = MappingList(Array(text.utf8)).mappings
    #expect(mappings.map(\.range) == [0x5500..<0x5600, 0x7000..<0x8000, 0xA000..<0xB000])
    #expect(mappings[0].kernelName == "[heap]" && mappings[0].isPrivateAnonymous)
    #expect(mappings[1].file == BackingFile(path: "/a b (deleted)", offset: 0x1000) && !mappings[1].isWritable)
    #expect(mappings[2].isShared && !mappings[2].isPrivateAnonymous)
  }
}
