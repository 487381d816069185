import Testing
import TraceTestSupport

@testable import AllocationReports
@testable import TraceReading
@testable import TraceReports
@testable import TraceSymbolication

@Suite struct SelectionTests {
  private func types(_ change: (inout ReportSelection) -> Void) throws -> [String] {
    try ReportFixture().report(change).sites.map(\.type)
  }

  @Test func everyOrderSortsDescendingAndOmitsZeros() throws {
    #expect(try types { $0.order = .live } == ["App.Image", "malloc", "closure context or box"])
    #expect(try types { $0.order = .peak } == ["calloc", "App.Image", "malloc", "closure context or box"])
    #expect(try types { $0.order = .total } == ["calloc", "malloc", "App.Image", "closure context or box"])
    #expect(try types { $0.order = .temporary } == ["malloc", "calloc"])
    #expect(try types { $0.order = .objects } == ["malloc", "App.Image", "calloc", "closure context or box"])
    #expect(try types { $0.order = .retains } == ["App.Image"])
  }

  @Test func filtersMatchAnyFrameAndTypes() throws {
    func total(_ change: (inout ReportSelection) -> Void) throws -> [String] {
      try types {
        $0.order = .total
        change(&$0)
      }
    }
    #expect(try total { $0.types = [NamePattern("image")] } == ["App.Image"])
    #expect(try total { $0.types = [NamePattern("image"), NamePattern("m*c")] } == ["malloc", "App.Image"])
    #expect(try total { $0.functions = [NamePattern("fill")] } == ["malloc", "App.Image"])
    #expect(try total { $0.functions = [NamePattern("walk(_:)")] } == ["closure context or box"])
    #expect(try total { $0.modules = [NamePattern("libswiftcore")] } == ["calloc", "malloc"])
    #expect(
      try total {
        $0.modules = [NamePattern("libswiftcore")]
        $0.functions = [NamePattern("fill")]
      } == ["malloc"])
    #expect(try total { $0.functions = [NamePattern("nowhere")] } == [])
  }

  @Test func swiftModulesCountAsModules() throws {
    var fixture = try ReportFixture()
    fixture.naming.frames[0x40_0050]![0].fullFunction = "closure #1 (Swift.Int) -> () in Walking.walk(Swift.Int) -> ()"
    #expect(
      try fixture.report { $0.modules = [NamePattern("walking")] }.sites.map(\.type) == ["closure context or box"])
    #expect(try fixture.report { $0.modules = [NamePattern("swift*")] }.sites.isEmpty)
  }

  @Test func rowsBeyondTheLimitAreCounted() throws {
    let report = try ReportFixture().report {
      $0.limit = 1
      $0.order = .total
    }
    #expect(report.sites.count == 1 && report.matchingCount == 4 && report.siteCount == 4)
    #expect(AllocationText().text(report).contains("3 more sites with 82.6 KiB allocated; show more with --limit\n"))
    #expect(report.types.count == 4)
  }

  @Test func matchingSitesWithoutLiveBytesAreMentioned() throws {
    let text = AllocationText().text(try ReportFixture().report { $0.types = [NamePattern("calloc")] })
    #expect(
      text.contains("1 allocation site matches, without live bytes at exit. --sort total lists"), "\(text)")
    let none = AllocationText().text(try ReportFixture().report { $0.types = [NamePattern("nowhere")] })
    #expect(none.contains("No allocation site matches."), "\(none)")
  }

  @Test func tracesOfOneProgramShareSites() throws {
    func trace(_ bias: UInt64, _ function: UInt64) throws -> ReportTrace {
      var builder = TraceBuilder()
      builder.image("/bin/app", bias..<bias + 0x1000, bias: bias, buildID: [1])
      let type = builder.type("App.Node")
      builder.event(
        .object, 0x10, size: 100, type: type, stack: builder.stack([bias + 0x20, bias + function]), time: 8)
      return ReportTrace(path: "\(bias)", analysis: AllocationAnalysis(try builder.reader()))
    }
    let report = AllocationReport(
      [try trace(0x10_0000, 0x30), try trace(0x20_0000, 0x30), try trace(0x20_0000, 0x40)], naming: OffsetNaming())
    #expect(report.sites.map(\.total.liveBytes) == [200, 100])
    #expect(report.siteCount == 2 && report.total.liveBytes == 300)
    #expect(report.sites[0].frames.map(\.source.function) == ["app+0x30", "app+0x20"])
  }
}
