import Testing
import TextWriting
import TraceTestSupport

@testable import AllocationReports
@testable import TraceReading
@testable import TraceReports
@testable import TraceSymbolication

/// Sites of one type and one function are one row.
@Suite struct SiteGroupTests {
  private func report(_ grouping: ReportSelection.Grouping, limit: Int? = nil, functions: [NamePattern] = []) throws
    -> AllocationReport
  {
    var trace = TraceBuilder()
    trace.image("/bin/app", 0x40_0000..<0x50_0000, bias: 0x40_0000)
    trace.image("/lib/libstdc++.so.6", 0x60_0000..<0x61_0000, bias: 0x60_0000)
    trace.image("/lib64/ld-linux-x86-64.so.2", 0x70_0000..<0x71_0000, bias: 0x70_0000)
    let node = trace.type("App.Node")
    var naming = TableNaming()
    naming.add(0x40_0010, "main", line: 1)
    naming.add(0x40_0020, "Reader.read()", file: "/src/Reader.swift", line: 20)
    naming.add(0x40_0021, "Reader.read()", file: "/src/Reader.swift", line: 25)
    naming.add(0x40_0030, "Reader.skip()", file: "/src/Reader.swift", line: 30)
    naming.add(0x60_0010, "pool", kind: .systemLibrary, image: "/lib/libstdc++.so.6")
    naming.add(0x70_0010, "_dl_init", kind: .systemLibrary, image: "/lib64/ld-linux-x86-64.so.2")
    naming.frames[0x60_0030] = [
      SourceFrame(
        function: "_IO_file_doallocate", fullFunction: "_IO_file_doallocate", mangledName: "_IO_file_doallocate",
        imagePath: "/lib/libc.so.6", file: nil, line: nil, column: nil, isInlined: false,
        kind: .systemLibrary, isAsync: false, asyncPart: nil)
    ]
    naming.add(0x60_0020, "thread pool", kind: .systemLibrary, image: "/lib/libstdc++.so.6")
    var (time, address): (UInt64, UInt64) = (1000, 0x7F00_0000)
    func allocate(_ operation: TraceReading.Operation, _ size: UInt64, _ stack: [UInt64]) {
      (time, address) = (time + 8, address + 0x10000)
      trace.event(
        operation, address, size: size, type: operation == .object ? node : 0, stack: trace.stack(stack), time: time)
    }
    allocate(.malloc, 72_704, [0x70_0010, 0x60_0010])
    for depth in 1...5 { allocate(.object, 100, [0x40_0010] + Array(repeating: 0x40_0020, count: depth)) }
    allocate(.object, 300, [0x40_0010, 0x40_0020, 0x40_0021])
    allocate(.object, 50, [0x40_0010, 0x40_0030])
    allocate(.malloc, 10, [0x40_0010, 0x40_0020])
    allocate(.malloc, 4096, [0x40_0010, 0x40_0020, 0x60_0030])
    allocate(.malloc, 400, [0x60_0020])
    allocate(.malloc, 200, [0x60_0020, 0x60_0010])
    var selection = ReportSelection()
    (selection.grouping, selection.limit, selection.functions) = (grouping, limit, functions)
    return AllocationReport(
      [ReportTrace(path: "a.trace", analysis: AllocationAnalysis(try trace.reader()))], selection: selection,
      naming: naming)
  }

  @Test func recursionAndLinesOfOneFunctionAreOneRow() throws {
    let rows = try report(.function).sites
    let read = try #require(rows.first)
    #expect(
      read.type == "App.Node" && read.total.liveBytes == 800 && read.total.liveBlocks == 6 && read.stackCount == 6)
    // The row shows the stack that has most of the bytes.
    #expect(read.frames.first?.source.line == 25)
    // Another function, another type and the stacks of libraries are separate rows.
    #expect(
      rows.map(\.total.liveBytes) == [800, 400, 200, 50, 10, 72_704, 4096]
        && rows.map(\.stackCount) == [6, 1, 1, 1, 1, 1, 1])
  }

  /// Types with one name are one type to a reader, and two numbers of one type are the same type.
  @Test(arguments: [false, true]) func sitesOfTypesWithOneNameAreOneRow(isRepeated: Bool) throws {
    var trace = TraceBuilder()
    trace.image("/bin/app", 0x40_0000..<0x50_0000, bias: 0x40_0000)
    var types = [trace.type("App.Node"), trace.type("App.Leaf")]
    if isRepeated {
      let again = TraceType(id: 9, metadata: RuntimeAddress(UInt64(types[0]) << 12), kind: .class, name: "App.Node")
      trace.definitions.append(.type(again))
      types.append(9)
    } else {
      types.append(trace.type("App.Node"))
    }
    for (number, type) in types.enumerated() {
      let address = UInt64(0x1000 * (number + 1))
      trace.event(.object, address, size: 32, type: type, stack: trace.stack([0x40_0010]), time: 1000 + address)
    }
    var naming = TableNaming()
    naming.add(0x40_0010, "main", line: 1)
    var selection = ReportSelection()
    selection.grouping = .stack
    let report = AllocationReport(
      [ReportTrace(path: "a.trace", analysis: AllocationAnalysis(try trace.reader()))], selection: selection,
      naming: naming)
    #expect(report.sites.map(\.type) == ["App.Node", "App.Leaf"])
    #expect(report.sites.map(\.total.liveBlocks) == [2, 1] && report.total.liveBlocks == 3)
    #expect(report.types.map(\.name) == ["App.Node", "App.Leaf"] && report.matchingCount == 2)
  }

  @Test func internalMemoryOfCLibrariesComesLast() throws {
    #expect(try report(.function).sites.dropLast().last?.frames.map(\.source.function) == ["pool", "_dl_init"])
    #expect(try report(.stack).sites.first?.total.liveBytes == 72_704)
  }

  @Test func rowsSumToTheFiguresOfAllSites() throws {
    let (joined, each) = (try report(.function), try report(.stack))
    #expect(
      joined.rowCount == 7 && each.rowCount == 12 && joined.siteCount == each.siteCount && joined.matchingCount == 12)
    #expect(joined.matchingTotal == each.matchingTotal && joined.total == each.total)
    #expect(joined.sites.reduce(0) { $0 + $1.total.liveBytes } == each.sites.reduce(0) { $0 + $1.total.liveBytes })
  }

  @Test func textShowsTheNumberOfStacksInARow() throws {
    let text = AllocationText(style: TextStyle(width: 120)).text(try report(.function, limit: 2))
    #expect(
      text.contains(
        "Allocation sites by live bytes at the end of the trace, joined by function: 2 of 7 (12 call stacks)"),
      "\(text)")
    #expect(text.contains("6 call stacks") && text.contains("5 more sites"), "\(text)")
    let chosen = AllocationText(style: TextStyle(width: 120)).text(
      try report(.function, functions: [NamePattern("Reader.read*")]))
    #expect(chosen.contains("joined by function: 3 of 3 that match (8 call stacks)"), "\(chosen)")
  }
}
