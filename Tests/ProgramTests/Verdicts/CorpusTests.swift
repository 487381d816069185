// The verdicts on small programs whose faults are known: each fault is found, counted and named, and nothing else is.

import TestRequirements
import Testing

@Suite(.serialized, .requires(.recorder)) struct CorpusTests {
  /// Uses no verdicts: this tests the corpus itself.
  @Test(
    "A faulty program keeps the expected number of objects, and its correct twin none",
    arguments: CorpusVariant.tested)
  func lifetimes(variant: CorpusVariant) throws {
    var checked = 0
    for run in try CorpusRun.all(variant) {
      guard case .success(let report) = run.report else {
        Issue.record("\(run.name): \(run.report)")
        continue
      }
      // The program's own types that are part of the fault, with the number of instances in all findings.
      var instances: [String: Int] = [:]
      for finding in run.program.leak ?? [] where finding.verdict != .dangling && !finding.library {
        for member in Set(finding.members) { instances[member, default: 0] += finding.count }
      }
      for (member, count) in instances {
        let live = report.liveBlocks(ofType: "\((run.program.program ?? .corpus).module).\(member)")
        if run.mode == .clean { #expect(live == 0, "\(run.name): \(live) \(member) are live") }
        guard run.mode == .leak, !Self.isOfLibrary(member) else { continue }
        #expect(live >= count, "\(run.name): \(live) \(member) are live, of \(count)")
        checked += 1
      }
    }
    #expect(checked > (variant == .earlierRuntime ? 45 : 60) / variant.stride)
  }

  @Test("Each fault is found, and nothing else", arguments: CorpusVariant.tested) func verdicts(
    variant: CorpusVariant
  ) throws {
    for run in try CorpusRun.all(variant) {
      switch run.report {
      case .failure(let failure): Issue.record("\(run.name): \(failure)")
      case .success(let report):
        // Ends the test at the first report without findings, because all other reports would lack them, too.
        let reported = report.findings
        let findings = try #require(reported, "\(run.name): the report does not speak of findings")
        let mismatches = FindingComparison.mismatches(expected: run.expected, found: findings)
        #expect(mismatches.isEmpty, "\(Self.explanation(run, findings, mismatches))")
      }
    }
  }

  /// Describes a finding, with details that help to find the cause if it appears in only one run of many.
  private static func text(_ finding: ReportedFinding) -> String {
    var text = FindingComparison.text(finding) + (finding.hidden == true ? " (hidden)" : "")
    if let first = finding.path.first {
      text += ", \(first.size ?? 0) bytes from \(first.function ?? "an unknown function")"
    }
    if let reason = finding.libraryReason { text += "; \(reason)" }
    return text
  }

  private static func explanation(_ run: CorpusRun, _ findings: [ReportedFinding], _ mismatches: [String]) -> Comment {
    func list(_ title: String, _ lines: [String]) -> String {
      ([title] + (lines.isEmpty ? ["none"] : lines)).joined(separator: "\n    ")
    }
    return Comment(
      rawValue: [
        run.name, list("  expected:", run.expected.map(FindingComparison.text)),
        list("  found:", findings.map(Self.text)),
        list("  differences:", mismatches),
      ].joined(separator: "\n"))
  }

  /// Whether a member is not a type that the corpus declares, but a kind, a type of a library, or a gap.
  private static func isOfLibrary(_ member: String) -> Bool {
    let others: Set<String> = [
      "closure", "box", "task", "malloc", "array", "dictionary", "set", ExpectedFinding.anySteps, "DispatchWorkItem",
      "URLSession",
      "ChannelHandlerContext", "EmbeddedChannel", "ChannelPipeline",
    ]
    // The report has full names inside angle brackets.
    return others.contains(member) || member.contains("<")
  }
}
