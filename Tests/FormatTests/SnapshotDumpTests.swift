import Testing
import TraceTestSupport

@testable import TraceReading
@testable import TraceReports

@Suite struct SnapshotDumpTests {
  private func lines(
    _ parts: Set<RecordDump.Part>, _ snapshots: [TraceSnapshot], words: [(address: UInt64, value: UInt64)] = []
  ) throws
    -> [String]
  {
    var trace = TraceBuilder()
    trace.snapshots = snapshots.map { ($0, words) }
    var lines: [String] = []
    try RecordDump(trace.reader(), parts: parts).write { line in
      #expect(line.hasSuffix("\n") && line.dropLast().allSatisfy { $0 != "\n" })
      // The offset in the file is removed.
      lines.append(String(line.dropLast().drop { $0.isNumber }.drop { $0 == " " }))
    }
    return lines
  }

  private let snapshot = TraceSnapshot(
    number: 2, reason: .request, time: 8_000_000_000, staticTLSSize: 4096,
    threads: [
      SnapshotThread(
        osThread: 7, stackPointer: 0x7000, threadPointer: 0x8000, instructionPointer: 0x4000,
        registers: [0x1000, 0x2000], isSelf: true),
      SnapshotThread(osThread: 8, stackPointer: nil, threadPointer: 0, isWaiting: true),
    ],
    regions: [
      MemoryRegion(range: 0x1000..<0x3000, kind: .anonymous),
      MemoryRegion(range: 0x4000..<0x5000, kind: .file, isWritable: false, isExecutable: true, isCaptured: false),
    ],
    label: "after\nwork",
    end: .init(unreadablePages: 3, capturedBytes: 8192, pauseNanoseconds: 1500, totalNanoseconds: 9000))

  @Test func imageIsDumpedAsOneLine() throws {
    #expect(
      try lines([.snapshots], [snapshot], words: [(0x1000, 0x2000), (0x2FF8, 0x1000)]) == [
        #"snapshot number=2 reason=request time=8.000000000 threads=2 regions=2 frozen=true tls=4096 parts=1 pages=2 words=2 captured=8192 pause=1500ns total=9000ns unreadable=3 errno=0 whole=yes label=after\u{a}work"#
      ])
  }

  @Test func imageWithoutAnEndOrWithAnErrorIsNotWhole() throws {
    var cut = snapshot
    cut.end = nil
    var failed = snapshot
    failed.number = 3
    failed.end?.error = 28
    let found = try lines([.snapshots], [cut, failed])
    #expect(found.count == 2)
    #expect(found[0].contains(" parts=0 whole=no_end label=") && !found[0].contains("words="))
    #expect(found[1].contains(" errno=28 whole=no label="))
  }

  @Test func contentsAreDumpedOnlyOnRequest() throws {
    let found = try lines([.memory], [snapshot], words: [(0x1000, 0x2000), (0x2FF8, .max)])
    #expect(found.first?.hasPrefix("snapshot number=2 ") == true)
    #expect(
      found.dropFirst() == [
        "snapshot_thread snapshot=2 os=7 sp=0x7000 tp=0x8000 ip=0x4000 self=true waiting=false registers=0x1000,0x2000",
        "snapshot_thread snapshot=2 os=8 sp=unknown tp=0x0 ip=0x0 self=false waiting=true registers=",
        "snapshot_region snapshot=2 first=0x1000 end=0x3000 kind=anonymous access=w- captured=true",
        "snapshot_region snapshot=2 first=0x4000 end=0x5000 kind=file access=-x captured=false",
        "word snapshot=2 address=0x1000 value=0x2000", "word snapshot=2 address=0x2ff8 value=0xffffffffffffffff",
      ])
    #expect(try lines([.definitions, .events], [snapshot]).isEmpty)
  }

  @Test func duplicateImageIsDumpedOnce() throws {
    #expect(try lines([.snapshots], [snapshot, snapshot]).count == 1)
  }
}
