// The conclusion at the beginning of a report.

import Testing
import TraceTestSupport

@testable import HeapAnalysis
@testable import LeakDetection
@testable import LeakGates
@testable import TraceReading
@testable import TraceReports

@Suite struct ConclusionTests {
  private let heap = HeapBuilder()

  /// Returns a report with a lost object.
  private func report() throws -> LeakReport {
    heap.type("App.Order")
    _ = heap.object("App.Order")
    return LeakReport(try heap.analysis())
  }

  private func line(_ report: LeakReport) -> String { FindingText.conclusion(report).sentence }

  @Test func provenLeakConcludesLeak() throws {
    let report = try report()
    #expect(report.conclusion == .leak)
    #expect(line(report) == "Leaks: 1 proven, 48 B retained, among 1 live block at exit")
  }

  @Test func likelyLossConcludesSuspicion() throws {
    var report = try report()
    report.findings[0].evidence = .unreachable(.lost(nil), way: .init(kind: .number, holder: "table"))
    #expect(report.conclusion == .suspected)
    #expect(line(report) == "Leaks: 1 likely, 48 B retained, among 1 live block at exit")
  }

  @Test(arguments: [
    (1 << 20, 1, LeakReport.Conclusion.leak), (100, 1000, .leak), (1 << 20 - 1, 999, .steady),
  ])
  func largeLibraryLeakConcludesLeak(bytes: Int, blocks: UInt64, expected: LeakReport.Conclusion) throws {
    var report = try report()
    report.findings[0].owner = .library(reason: "made inside libFoundation.so")
    report.findings[0].retainedBytes = ByteCount(UInt64(bytes))
    report.findings[0].retainedBlocks = blocks
    #expect(report.conclusion == expected)
    let answer = expected == .leak ? "Leaks: 1 by a library, " : "Leaks: none found, among "
    #expect(line(report).hasPrefix(answer), "\(line(report))")
  }

  @Test func noFindingsAndNoGrowthConcludeSteady() throws {
    let report = LeakReport(try heap.analysis())
    #expect(report.conclusion == .steady)
    #expect(line(report) == "Leaks: none found, among 0 live blocks at exit")
  }

  /// Memory of a process of 1 GiB whose allocator keeps 900 MiB in 13 arenas.
  private func kept() throws -> ResidentMemory {
    var memory = try #require(
      ResidentMemory(resident: 1 << 30, privateBytes: 1000 << 20, liveBlocks: 20 << 20, threads: [], regions: []))
    var record = AllocatorRecord(time: 1, kind: .glibc)
    (record.free, record.freePages, record.arenas) = (900 << 20, 890 << 20, 13)
    (record.arenaLimit, record.freeInOtherArenas) = (0, 850 << 20)
    memory.allocators = [record]
    return memory
  }

  @Test func freedMemoryConcludesKept() throws {
    var report = LeakReport(try heap.analysis())
    report.residentMemory = try kept()
    #expect(report.conclusion == .kept)
    #expect(
      line(report)
        == "Leaks: none found, among 0 live blocks at exit; of 1.00 GiB resident, glibc keeps 900 MiB of freed memory in 13 arenas (remedy: malloc_trim(0), MALLOC_ARENA_MAX=2)"
    )
    // The allocator keeps more than what grew, so what grew does not explain the size.
    report.grown = [
      GrownCollection(
        holder: "Room.log", holders: 1, type: "Message", elements: 80, bytes: ByteCount(3840),
        quarters: [20, 40, 60, 80])
    ]
    #expect(report.conclusion == .kept)
    report.grown[0].bytes = ByteCount(950 << 20)
    #expect(report.conclusion == .growing && !line(report).contains("glibc"))
  }

  @Test func smallLeakDoesNotHideFreedMemory() throws {
    var report = try report()
    report.residentMemory = try kept()
    #expect(report.conclusion == .leak)
    #expect(line(report).hasPrefix("Leaks: 1 proven, 48 B retained, among 1 live block at exit; of 1.00 GiB resident"))
    report.findings[0].retainedBytes = ByteCount(950 << 20)
    #expect(!line(report).contains("glibc"))
  }

  @Test func littleFreedMemoryIsNoAnswer() throws {
    var report = LeakReport(try heap.analysis())
    var memory = try kept()
    memory.allocators[0].free = 60 << 20
    report.residentMemory = memory
    #expect(report.conclusion == .steady)
    // Mapped memory is not freed memory, however much of it there is.
    memory.allocators = []
    report.residentMemory = memory
    #expect(report.conclusion == .steady)
  }

  @Test func levelMemoryConcludesLevelled() throws {
    var report = LeakReport(try heap.analysis())
    report.level = MemoryLevel(
      bytes: 4 << 20, share: 0.1, start: 1, end: 10,
      holder: .init(name: "Cache.entries", type: "Entry", isCollection: false, count: 2000, retainedBytes: 3 << 20))
    #expect(report.conclusion == .levelled)
    #expect(
      line(report)
        == "Leaks: none found, among 0 live blocks at exit; memory levelled off at 4.00 MiB after 10 % of the run; Cache.entries holds 3.00 MiB of it in 2,000 × Entry"
    )
    report.level?.holder = nil
    report.level?.share = 0
    #expect(line(report).hasSuffix("; memory stayed level at 4.00 MiB"))
  }

  @Test func missingImageConcludesNotChecked() throws {
    let report = LeakReport(unavailable: "no image")
    #expect(report.conclusion == .notChecked && line(report) == "Leaks: not checked: no image")
  }
}
