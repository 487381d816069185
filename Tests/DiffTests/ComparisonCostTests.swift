import Testing
import TraceTestSupport

@testable import AllocationReports
@testable import LeakGates
@testable import RunDiff
@testable import TraceReading
@testable import TraceSymbolication

/// Limits on the work that a small digest can cause in a comparison.
@Suite struct ComparisonCostTests {
  /// Returns a run with `sites` sites, all at the end of one stack of `depth` functions.
  private func digest(depth: Int32, sites: Int32) throws -> RunDigest {
    let reader = try TraceReader(bytes: try TraceBuilder().bytes())
    let trace = ReportTrace(path: "a.trace", analysis: AllocationAnalysis(reader))
    var digest = RunDigest(trace, leaks: LeakReport(unavailable: "no heap image"), naming: OffsetNaming())
    digest.frames = (0..<depth).map {
      DiffFrame(function: "f\($0)", stableName: "A.f\($0)()", symbol: 0, isPlatform: false, file: nil, line: nil)
    }
    digest.stacks = (0..<depth).map { RunDigest.StackNode(caller: $0 - 1, frame: $0) }
    var total = SiteTotal()
    total.allocatedBlocks = 1
    digest.sites = (0..<sites).map {
      RunDigest.Site(type: "T\($0)", operation: "malloc", innermost: -1, stack: depth - 1, total: total)
    }
    return digest
  }

  @Test func comparisonRejectsTooManyFunctionsForTheSiteCount() throws {
    let deep = try digest(depth: 8000, sites: 1000)
    #expect(throws: RunComparison.Failure.tooManyFunctions(path: "a.trace")) {
      try RunComparison.report(old: [deep], new: [deep], isUntrusted: true)
    }
    #expect(try RunComparison.report(old: [deep], new: [deep]).sites.unchanged == 1000)
    let usual = try digest(depth: 500, sites: 1000)
    #expect(try RunComparison.report(old: [usual], new: [usual]).sites.unchanged == 1000)
  }

  @Test func renameIndexFindsExactlyThePossibleRenames() {
    let renames = ["Foo", "Foo.run()", "b", "()", "closure #1 in b"]
    var index = RenameIndex()
    for (number, old) in renames.enumerated() { index.insert(number, old) }
    for text in ["Foo.run()", "App.Foo", "Foobar", "closure #1 in b", "a.b(c:)", "x()"] {
      let found = Set(index.candidates(in: text))
      for (number, old) in renames.enumerated() where text.replacingName(old, with: "?") != text {
        #expect(found.contains(number), "\(old) in \(text)")
      }
    }
    #expect(index.candidates(in: "Foobar") == [3] && index.candidates(in: "App.Foo", from: 1) == [1, 3])
  }

  @Test func renamesThatShareAFirstWordAreNotAllCompared() {
    var index = RenameIndex()
    for number in 0..<2000 { index.insert(number, "f x\(number)") }
    var found = 0
    for number in 0..<2000 { found += index.candidates(in: "f y\(number)").count }
    #expect(found == 65 * 2000)
  }

  @Test func emptyNameReplacesNothing() {
    #expect("App".replacingName("", with: "x") == "App")
  }

  @Test func crowdLimitBoundsNameComparisons() {
    #expect(NameMatching.crowdLimit([(64, 1000), (4, 10)]) == 64)
    let large = NameMatching.comparisonLimit
    #expect(NameMatching.crowdLimit([(64, large), (20, 1000), (4, 10)]) == 32)
    #expect(NameMatching.crowdLimit([(2, large + 1)]) == 1)
  }
}
