// Reports on the scopes, expectations and generations that a program states through LeakTrace.

import Foundation
import TestRequirements
import Testing

@Suite(.serialized, .requires(.recorder)) struct StatementTests {
  private struct Statements: Decodable {
    struct Scope: Decodable { var name: String, executions: Int, open: Int, births: Int, executionsWithRest: Int }
    struct Expectation: Decodable { var name: String, met: Int, late: Int, violated: Int, undecided: Int, unknown: Int }
    struct Generation: Decodable {
      struct Start: Decodable { var name: String }
      struct Share: Decodable { var type: String, objects: Int }
      var start: Start?
      var objects: Int
      var types: [Share]
    }
    var scopes: [Scope]
    var expectations: [Expectation]
    var generations: [Generation]
    var findings: [ReportedFinding]
  }
  private struct Document: Decodable { var reports: [Statements] }

  private func statements(isLeaking: Bool, isSlow: Bool = false, flags: [String]) throws -> Statements {
    let directory = try TemporaryDirectory()
    let trace = directory.path + "/statements.trace"
    let program = try LeakTraceLibrary.program("statements.swift", flags: flags)
    var command = Command(
      [BuildProducts.leaktrace, "record", "--quiet", "-o", trace, "--", try program.path()])
    let goOn = directory.path + "/go-on"
    if isLeaking { command.arguments += ["leak", goOn] + (isSlow ? ["apart"] : []) }
    let running = try command.start()
    if isLeaking {
      try AwaitedState.wait(forExpectationImages: 1) { [trace] }
      try Data().write(to: URL(fileURLWithPath: goOn))
    }
    let recording = try running.wait()
    try #require(recording.end == .exit(0), "\(recording.errorOutput)")
    command.arguments = [BuildProducts.leaktrace, "analyze", "--format", "json", "--limit", "1", trace]
    let analysis = try command.run()
    try #require(analysis.end == .exit(0), "\(analysis.errorOutput)")
    return try #require(try JSONDecoder().decode(Document.self, from: Data(analysis.output.utf8)).reports.first)
  }

  @Test(
    "Objects left by scopes and expectations are reported with their holder at the deadline",
    arguments: [["-Onone"], ["-O"], ["-O", "-static-stdlib"]])
  func leaks(flags: [String]) throws {
    let report = try statements(isLeaking: true, flags: flags)
    let checkout = try #require(report.scopes.first { $0.name == "checkout" && $0.executions == 40 })
    #expect(checkout.open == 0 && checkout.births >= 40)
    let orders = try #require(
      report.findings.first { $0.outliving?.statement?.kind == "scope" && $0.path.last?.type == "Order" })
    #expect(
      orders.verdict == "outlived" && orders.instances == 10 && orders.outliving?.holder == "static Archive.orders")
    #expect(orders.outliving?.statement?.name == "checkout" && orders.outliving?.statement?.executions == 40)

    let closed = try #require(report.expectations.first { $0.name == "screen closed" })
    #expect((closed.met, closed.late, closed.violated) == (11, 1, 2))
    let screens = try #require(report.findings.first { $0.outliving?.statement?.kind == "expectation" })
    #expect(screens.path.last?.type == "Screen" && screens.outliving?.holder == "static Windows.closed")
    // The image still has the object that was freed after its deadline.
    #expect(screens.instances == 3 && screens.outliving?.snapshot == 1)
    #expect(report.findings.count == 2)

    #expect(report.generations.map { $0.start?.name } == [nil, "after checkouts", "after printing"])
    #expect(report.generations[0].types.contains { $0.type == "Order" && $0.objects == 10 })
    #expect(report.generations[1].types.contains { $0.type == "Screen" && $0.objects == 2 })
  }

  @Test("Objects due or late after the first deadline's image are counted with it")
  func apart() throws {
    let report = try statements(isLeaking: true, isSlow: true, flags: ["-O"])
    let closed = try #require(report.expectations.first { $0.name == "screen closed" })
    #expect((closed.met, closed.late, closed.violated) == (11, 1, 2))
    let screens = report.findings.filter { $0.outliving?.statement?.kind == "expectation" }
    #expect(screens.map(\.instances) == [3] && screens.first?.outliving?.snapshot == 1)
    #expect(screens.first?.outliving?.holder == "static Windows.closed")
  }

  @Test("Objects freed in time give no finding", arguments: [["-Onone"], ["-O"]]) func clean(flags: [String]) throws {
    let report = try statements(isLeaking: false, flags: flags)
    #expect(report.findings.isEmpty)
    let closed = try #require(report.expectations.first { $0.name == "screen closed" })
    #expect((closed.met, closed.late, closed.violated, closed.unknown) == (11, 0, 0, 0))
    #expect(report.scopes.allSatisfy { $0.open == 0 })
  }
}
