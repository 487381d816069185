import TraceTestSupport

@testable import AllocationReports
@testable import TraceReading

/// The trace of a small program with a cache of images that stays alive, a loop of temporary strings, and a plain C
/// block.
struct ReportFixture {
  var trace = TraceBuilder()
  var naming = TableNaming()

  init() throws {
    trace.definitions = [
      .process(ProcessRecord(executable: "/bin/app", flags: 1)), .warning("the colour of the bike shed is not known"),
      .memory(MemorySample(time: 1_000_000_000, resident: 9 << 20, recorder: 1 << 20, peakResident: 0)),
    ]
    trace.image("/bin/app", 0x40_0000..<0x50_0000, bias: 0x40_0000, buildID: [0xAB, 0xCD])
    trace.image("/lib/libswiftCore.so", 0x70_0000..<0x80_0000, bias: 0x70_0000)
    let image = trace.type("App.Image")
    let context = trace.type("", kind: .closureContext)

    naming.add(0x40_0010, "main", file: "/src/main.swift", line: 3)
    naming.add(0x40_0020, "Cache.fill(_:)", file: "/src/Cache.swift", line: 20, full: "App.Cache.fill(Swift.Int) -> ()")
    naming.add(0x40_0030, "Image.init()", file: "/src/Image.swift", line: 7)
    naming.add(0x40_0030, "Image.__allocating_init()", file: "/src/Image.swift", line: 5)
    naming.add(0x40_0040, "reabstraction thunk", kind: .thunk)
    naming.add(0x40_0050, "walk(_:)", file: "/src/Walk.swift", line: 9)
    naming.add(0x70_0010, "swift_slowAlloc", kind: .systemLibrary, image: "/lib/libswiftCore.so")
    naming.add(0x70_0020, "Array.append(_:)", kind: .systemLibrary, image: "/lib/libswiftCore.so")

    let cache = trace.stack([0x40_0010, 0x40_0040, 0x40_0020, 0x40_0030])
    let array = trace.stack([0x40_0010, 0x40_0020, 0x70_0020, 0x70_0010])
    let deep = trace.stack([0x40_0010] + Array(repeating: 0x40_0050, count: 1500) + [0x45_0000])
    var time: UInt64 = 1_000_000
    for index in 0..<100 as Range<UInt64> {
      trace.event(.object, 0x10_0000 + index * 0x100, size: 200, type: image, stack: cache, time: time)
      trace.event(.retain, 0x10_0000 + index * 0x100, stack: cache, time: time + 8)
      time += 16
    }
    for index in 0..<1000 as Range<UInt64> {
      trace.event(.malloc, 0x20_0000, size: 64 + index % 2, stack: array, time: time)
      if index < 999 { trace.event(.free, 0x20_0000, stack: array, time: time + 8) }
      time += 16
    }
    trace.event(.object, 0x30_0000, size: 48, type: context, stack: deep, time: time)
    trace.event(.calloc, 0x40_0000, size: 3 << 20, stack: trace.stack([0x70_0010]), time: time + 8)
    trace.event(.free, 0x40_0000, time: time + 16)
    trace.event(.free, 0x666, time: time + 24)
    var closing = TraceClosing(reason: .exit, waitStatus: 0, time: 2_500_000_000, eventCount: 2203)
    closing.residentBytes = 6 << 20
    closing.recorderBytes = 1 << 20
    closing.threadCount = 1
    trace.closing = closing
  }

  func report(_ change: (inout ReportSelection) -> Void = { _ in }) throws -> AllocationReport {
    var selection = ReportSelection()
    change(&selection)
    let reader = try trace.reader()
    return AllocationReport(
      [ReportTrace(path: "app.trace", analysis: AllocationAnalysis(reader))], selection: selection, naming: naming)
  }
}
