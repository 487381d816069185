// What each constant of the suspicions decides in recorded programs: rule-sensitivity TRACE…
//
// Writes a line for each change, its parts separated by tabs: the constant, its value, the other value, the trace, and
// the change: `gains`, `loses`, `strengthens` or `weakens`, and the finding's title. And a line `constant`, name and value for each
// constant. Ends with 1 if a trace cannot be judged.

import Foundation
import HeapAnalysis
import LeakDetection
import TraceAnalysis
import TraceReading
import TraceReports
import TraceSymbolication

@main enum RuleSensitivity {
  static func main() {
    guard Constant.unlisted.isEmpty else { fail("not listed, or no constants: \(Constant.unlisted)") }
    for constant in Constant.all { print("constant", constant.name, constant.value(.standard), separator: "\t") }
    for path in CommandLine.arguments.dropFirst() {
      do {
        try judge(path)
      } catch {
        fail("\(path): \(error)")
      }
    }
  }

  private static func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("rule-sensitivity: \(message)\n".utf8))
    exit(1)
  }

  struct NoImage: Error {}

  /// Builds the graph once, and judges it by the rules as they are and with each constant moved.
  private static func judge(_ path: String) throws {
    let reader = try TraceReader(path: path)
    guard let snapshot = SnapshotChoice.choose(reader, number: nil) else { throw NoImage() }
    let allocations = AllocationAnalysis(reader, snapshot: snapshot)
    let analysis = LeakAnalysis(
      reader, allocations, snapshot: snapshot, toolPath: ProcessInfo.processInfo.environment["PATH"] ?? "",
      naming: Symbolicator(of: [allocations], search: DebugFileSearch()))
    let usual = Verdicts(analysis.suspicions(by: .standard))
    for constant in Constant.all {
      for rules in constant.moved(.standard) {
        for change in usual.changes(to: Verdicts(analysis.suspicions(by: rules))) {
          print(
            constant.name, constant.value(.standard), constant.value(rules), fileName(ofPath: path), change,
            separator: "\t")
        }
      }
    }
  }
}

/// The suspicions of a trace: how many of each title, strong ones apart from weak ones.
private struct Verdicts {
  private struct Count: Equatable {
    var strong = 0
    var weak = 0
    var all: Int { strong + weak }
  }

  private var counts: [String: Count] = [:]

  init(_ findings: [Finding]) {
    for finding in findings where !finding.isLibrary {
      let title = "\(finding.verdict.rawValue) \(FindingTitle.subject(finding))"
      if finding.isWeak {
        counts[title, default: Count()].weak += 1
      } else {
        counts[title, default: Count()].strong += 1
      }
    }
  }

  /// In words, with titles.
  func changes(to other: Verdicts) -> [String] {
    Set(counts.keys).union(other.counts.keys).sorted().compactMap { title in
      let (before, after) = (counts[title] ?? Count(), other.counts[title] ?? Count())
      guard before != after else { return nil }
      if before.all != after.all { return "\(before.all < after.all ? "gains" : "loses")\t\(title)" }
      return "\(before.strong < after.strong ? "strengthens" : "weakens")\t\(title)"
    }
  }
}
