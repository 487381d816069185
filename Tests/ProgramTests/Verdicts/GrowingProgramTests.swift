// Leaks that grow with the work, and the same programs without the leaks.

import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct GrowingProgramTests {
  /// A mode of Tests/Programs/growing.swift, and the expected report.
  struct Way: Sendable, CustomTestStringConvertible {
    var name: String
    /// The verdict, type and number of instances of the only suspicion.
    var suspicion: (verdict: String, type: String, instances: ClosedRange<Int>)
    /// Words that the report must contain.
    var says: [String]
    var testDescription: String { name }

    static let all = [
      Way(
        name: "rooms", suspicion: ("accumulating", "Message", 1000...1000),
        says: ["Room.log only grows", "in 12 holders: 1,000 × Message"]),
      Way(name: "chain", suspicion: ("accumulating", "Timing", 290...300), says: ["handler"]),
      Way(
        name: "streams", suspicion: ("accumulating", "AsyncStream._Storage<Int>", 300...300),
        says: ["Hub.continuations only grows"]),
      Way(
        name: "observation", suspicion: ("outlived", "Badge", 8...8),
        says: ["Held by the observation of Model", "Do not call withObservationTracking again"]),
      Way(
        name: "tasks", suspicion: ("outlived", "Uplink", 5...5), says: ["Held by a task started in Uplink.start()"]),
      Way(
        name: "children", suspicion: ("accumulating", "Task", 390...400),
        says: [
          "Held by a task group in closure #1 in serve(_:)", "Use withDiscardingTaskGroup", "× finished child task",
        ]),
    ]
  }

  private static let optimisations = TestTier.arguments(["-O"], of: ["-O", "-Onone"])

  private func report(_ arguments: [String], _ optimisation: String) throws -> (list: [ReportedFinding], text: String) {
    let directory = try TemporaryDirectory()
    let trace = directory.path + "/t"
    let program = TestProgram("growing.swift", flags: [optimisation])
    // The program with child tasks kills itself by a signal while the task group waits, so the exit status is not
    // checked.
    _ = try Command([BuildProducts.leaktrace, "record", "--quiet", "-o", trace, "--", program.path()] + arguments).run()
    let report = try #require(try VerdictReport.read(traces: [trace])[trace])
    let text = try Command([BuildProducts.leaktrace, "analyze", trace, "--limit", "1"]).run().output
    let joined = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return (try #require(report.findings).filter { !$0.library && $0.strength != "weak" }, joined)
  }

  @Test("Growth is suspected with its holder", arguments: Way.all, optimisations)
  func leaky(way: Way, optimisation: String) throws {
    let (found, text) = try report([way.name], optimisation)
    #expect(found.count == 1, "\(text)")
    let (verdict, type, instances) = way.suspicion
    if let first = found.first {
      #expect(first.verdict == verdict && first.path.last?.type == type, "\(text)")
      #expect(instances.contains(first.instances), "\(text)")
    }
    for words in way.says { #expect(text.contains(words), "\(text)") }
  }

  @Test("The same work without the leak has no finding", arguments: Way.all, optimisations)
  func clean(way: Way, optimisation: String) throws {
    let (found, text) = try report([way.name, "clean"], optimisation)
    #expect(found.isEmpty && text.contains("Leaks: none found, among"), "\(text)")
  }
}
