// Pages about long runs.

import Foundation
import TestRequirements
import Testing

/// The short runs have some million events, and the long runs have a hundred million.
@Suite(.secondTier, .requires(.recorder), .requires(.program("chromium")), .serialized) struct PageScaleTests {
  enum Length: CaseIterable, Sendable { case short, long }

  /// A workload of the benchmark, with its arguments for a short and a long run.
  struct Workload: CustomTestStringConvertible, Sendable {
    var name: String
    var short: [String]
    var long: [String]
    var testDescription: String { name }
  }

  /// The first workload has many types. The second has many call stacks: half a million in the long run.
  private static let workloads = [
    Workload(name: "json", short: ["5000", "1"], long: ["5000", "36"]),
    Workload(name: "churn", short: ["14", "20"], long: ["18", "40"]),
  ]

  /// The limit on a page's size in bytes, for runs of any length: the size that mail servers accept.
  private static let longestPage = 8 << 20
  /// The limit on the resident bytes of `report`. A machine of continuous integration has 4 GB or more.
  private static let maxMemory = [Length.short: 512 << 20, .long: 2 << 30]
  /// The limit on a page's elements when it opens, for runs of any length. A browser lays out this number in far less
  /// than a second.
  private static let maxElements = 20_000

  @Test("The page of a long run is small and opens with few elements", arguments: workloads, Length.allCases)
  func run(workload: Workload, length: Length) throws {
    let directory = try TemporaryDirectory()
    let (trace, page) = (directory.path + "/a.trace", directory.path + "/page.html")
    let program = TestProgram(
      named: workload.name, sources: ["../../Benchmarks/workloads/\(workload.name).swift"])
    let arguments = [try program.path()] + (length == .long ? workload.long : workload.short)
    #expect(
      try Command([BuildProducts.leaktrace, "record", "--quiet", "-o", trace, "--"] + arguments).run().end == .exit(0))

    let memory = try peakMemory([BuildProducts.leaktrace, "report", trace, "-o", page])
    let size = try #require(FileManager.default.attributesOfItem(atPath: page)[.size] as? Int)
    let overview = try HeadlessBrowser.open("file://\(page)#overview")
    let elements = overview.document.count { $0 == "<" } / 2
    #expect(memory < (Self.maxMemory[length] ?? 0))
    #expect(size < Self.longestPage)
    #expect(elements > 100 && elements < Self.maxElements)
    #expect(overview.complaints == [])

    struct Document: Decodable {
      struct Trace: Decodable { var eventCount: UInt64 }
      struct Report: Decodable {
        var traces: [Trace]
        var total: [String: UInt64]
      }
      var reports: [Report]
    }
    let json = try Command([BuildProducts.leaktrace, "analyze", "--format", "json", "--limit", "1", trace]).run().output
    let report = try #require(JSONDecoder().decode(Document.self, from: Data(json.utf8)).reports.first)
    let events = report.traces.reduce(0) { $0 + $1.eventCount }
    #expect(events >= (length == .long ? 100_000_000 : 1_000_000))
    let flame = try HeadlessBrowser.open("file://\(page)#flame/allocated-blocks")
    #expect(flame.complaints == [])
    #expect(
      flame.document.replacing(",", with: "").contains("allocated blocks: \(report.total["allocatedBlocks"] ?? 0)"))
    print(
      "page of \(workload.name): \(events) events, \(size) bytes, \(elements) elements, report took \(memory) bytes")
  }

  /// Returns the peak resident bytes of a command and its children.
  private func peakMemory(_ command: [String]) throws -> Int {
    let script =
      "import resource, subprocess, sys; status = subprocess.run(sys.argv[1:]).returncode; "
      + "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024); sys.exit(status)"
    let outcome = try Command(["python3", "-c", script] + command).run()
    #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
    return try #require(Int(outcome.output.split(separator: "\n").last ?? ""))
  }
}
