// Tests whether advice works. The programs of Tests/Programs/advice are built unchanged, and with the change that each
// program's advice names.

import Foundation
import TestRequirements
import Testing

/// A program with one fault.
struct AdviceCase: Sendable, CustomTestStringConvertible {
  /// The name that the program uses for itself.
  var name: String
  /// The file with the fault. The line that the advice must name contains `to change`.
  var file: String
  var verdict: String
  /// Words that the advice must have.
  var says: [String]

  var testDescription: String { name }

  static let all = [
    AdviceCase(name: "delegate", file: "Stopwatch", verdict: "retainCycle", says: ["Make Stopwatch.delegate weak"]),
    AdviceCase(
      name: "closure-property", file: "Download", verdict: "retainCycle",
      says: ["Capture self weakly", "Connection.onFinish"]),
    AdviceCase(
      name: "dispatch-timer", file: "Heartbeat", verdict: "outlived", says: ["cancel()", "capture self weakly"]),
    AdviceCase(
      name: "weak-capture", file: "Lighthouse", verdict: "outlived",
      says: ["Keep no strong reference to self across an await", "the capture is weak", "unwrap it again"]),
    AdviceCase(
      name: "observer", file: "ThemePicker", verdict: "retainCycle",
      says: ["removeObserver(_:)", "Capture self weakly"]),
    AdviceCase(
      name: "own-task", file: "Chat", verdict: "suspended",
      says: ["capture self weakly", "Then the Chat is freed", "finish the stream"]),
    AdviceCase(
      name: "stream-termination", file: "Ticker", verdict: "retainCycle",
      says: ["Capture self weakly", "finish() on Ticker.continuation"]),
    AdviceCase(name: "parent", file: "Chapter", verdict: "retainCycle", says: ["Make Chapter.parent weak"]),
    AdviceCase(
      name: "registry", file: "Visits", verdict: "accumulating", says: ["Visits.open only grows", "remove each Visit"]),
    AdviceCase(
      name: "c-context", file: "Codec", verdict: "lost",
      says: ["Nothing released", "Unmanaged.passRetained", "takeRetainedValue()"]),
    AdviceCase(
      name: "raw-memory", file: "Ring", verdict: "lost",
      says: ["Nothing released", "deinitialize(count:) before deallocate()"]),
    AdviceCase(
      name: "unowned-capture", file: "Menu", verdict: "deinitialised",
      says: ["Capture self weakly instead of unowned", "Menu.choose"]),
    AdviceCase(
      name: "closure-list", file: "Toolbar", verdict: "retainCycle",
      says: ["Capture self weakly", "remove it from Toolbar.actions"]),
    AdviceCase(
      name: "method-reference", file: "Keypad", verdict: "retainCycle",
      says: ["Keypad.onPress holds a method", "Keypad.connect()", "captures the Keypad weakly"]),
    AdviceCase(
      name: "own-variable", file: "Crawl", verdict: "retainCycle",
      says: ["captures step, the variable that holds it", "set step to nil"]),
    AdviceCase(
      name: "older-presenter", file: "Storefront", verdict: "retainCycle", says: ["Make Presenter.output weak"]),
    AdviceCase(
      name: "work-item", file: "Search", verdict: "retainCycle", says: ["Capture self weakly", "Search.schedule()"]),
    AdviceCase(name: "field-of-elements", file: "Route", verdict: "retainCycle", says: ["Make Leg.route", "weak"]),
    AdviceCase(
      name: "ring", file: "Carousel", verdict: "retainCycle",
      says: ["in a ring", "set Slide.next of one of them to nil", "deinit"]),
    AdviceCase(
      name: "two-closures", file: "Journal", verdict: "retainCycle",
      says: ["Capture self weakly in the closures at", " and "]),
    AdviceCase(name: "erased-type", file: "Patrol", verdict: "retainCycle", says: ["Make NightRound.guardian weak"]),
    AdviceCase(
      name: "early-return", file: "Postmark", verdict: "lost",
      says: ["Of the 50 blocks made there, 40 were freed", "leaves early"]),
    AdviceCase(
      name: "forgotten-memory", file: "Scan", verdict: "lost",
      says: ["was never freed", "before its last pointer is overwritten"]),
  ]

  private static let sources = BuildProducts.packageRoot + "/Tests/Programs/advice"

  /// The number of the line to change; nil if the advice names a declaration instead.
  func line() throws -> Int? {
    let text = try String(contentsOfFile: "\(Self.sources)/\(file).swift", encoding: .utf8)
    return text.split(separator: "\n", omittingEmptySubsequences: false).firstIndex { $0.contains("to change") }.map {
      $0 + 1
    }
  }
}

@Suite(.serialized, .requires(.recorder)) struct AdviceTests {
  /// The distance that is accepted between the reported line and the line to change. The optimiser leaves some closures
  /// without lines of their own, and the report then has a line of the enclosing function.
  private static let nearestLines = 3

  private static let optimisations = TestTier.arguments(["-O"], of: ["-Onone", "-O"])

  private static func program(isMended: Bool, _ optimisation: String) -> TestProgram {
    TestProgram(named: "advice", sources: ["advice"], flags: [optimisation] + (isMended ? ["-D", "MENDED"] : []))
  }

  /// The findings of all programs of one build, by the program's name, without weak suspicions and findings of
  /// libraries.
  private static let findings: [String: Result<[String: [ReportedFinding]], any Error>] = Dictionary(
    uniqueKeysWithValues: (optimisations.map { ($0, false) } + [("-O", true)]).map { optimisation, isMended in
      (key(isMended: isMended, optimisation), Result { try read(isMended: isMended, optimisation) })
    })

  private static func key(isMended: Bool, _ optimisation: String) -> String {
    optimisation + (isMended ? " mended" : "")
  }

  private static func read(isMended: Bool, _ optimisation: String) throws -> [String: [ReportedFinding]] {
    let directory = try TemporaryDirectory()
    let executable = try program(isMended: isMended, optimisation).path()
    func trace(_ program: AdviceCase) -> String { "\(directory.path)/\(program.name).trace" }
    for program in AdviceCase.all { try VerdictReport.record([executable, program.name], to: trace(program)) }
    let reports = try VerdictReport.read(traces: AdviceCase.all.map(trace))
    return try Dictionary(
      uniqueKeysWithValues: AdviceCase.all.map { program in
        (program.name, try #require(reports[trace(program)]?.findings).filter { !$0.library })
      })
  }

  private func findings(_ program: AdviceCase, isMended: Bool, _ optimisation: String) throws -> [ReportedFinding] {
    let all = try #require(Self.findings[Self.key(isMended: isMended, optimisation)]).get()
    return try #require(all[program.name])
  }

  @Test("The advice names the place to change", arguments: AdviceCase.all, optimisations)
  func place(program: AdviceCase, optimisation: String) throws {
    let findings = try findings(program, isMended: false, optimisation)
    #expect(findings.map(\.verdict) == [program.verdict])
    let advice = (findings.first?.advice ?? []).joined(separator: " ")
    for words in program.says { #expect(advice.contains(words), "\(words) is not in: \(advice)") }
    guard let line = try program.line() else { return }
    let lines = advice.split(separator: "\(program.file).swift:").dropFirst().compactMap {
      Int($0.prefix { $0.isNumber })
    }
    #expect(lines.contains { abs($0 - line) <= Self.nearestLines }, "line \(line) is not in: \(advice)")
  }

  @Test("The program with the advised change has no finding", arguments: AdviceCase.all) func mended(
    program: AdviceCase
  ) throws {
    let findings = try findings(program, isMended: true, "-O")
    #expect(findings.isEmpty, "\(findings.map(FindingComparison.text))")
  }

  @Test(
    "No advice names a place inside a collection",
    arguments: TestTier.arguments([CorpusVariant.dynamicOptimised], of: [.dynamicUnoptimised, .dynamicOptimised]))
  func names(variant: CorpusVariant) throws {
    for run in try CorpusRun.all(variant) {
      guard case .success(let report) = run.report else { continue }
      for line in report.findings?.flatMap(\.advice) ?? [] {
        for place in ["clear [", "make [", "Make [", "Clear [", "remove it from [", "[value]", "[].", "capture 0"] {
          #expect(!line.contains(place), "\(run.name): \(line)")
        }
      }
    }
  }
}
