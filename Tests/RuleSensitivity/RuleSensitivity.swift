// What each constant of the suspicions decides in recorded programs:
// rule-sensitivity [--points | --listed] [NAME=NUMBER…] TRACE…
//
// With `--points` only the points of rules are moved, with `--listed` nothing is. `NAME=NUMBER` sets points before.
//
// All lines have parts separated by tabs. A line `constant` has the name and the value of each. A line `listed` has a
// trace and the suspicions that a report lists: their titles, and the types on their paths. With `--points`, a line
// `move` has the constant, another value, the trace and its suspicions with that. Otherwise a line for each change has
// the constant, its value, the other value, the trace, the change (`gains`, `loses`, `strengthens` or `weakens`) and the
// finding's title. Ends with 1 if a trace cannot be judged.

import Foundation
import HeapAnalysis
import LeakDetection
import TextWriting
import TraceAnalysis
import TraceReading
import TraceReports
import TraceSymbolication

@main enum RuleSensitivity {
  static func main() {
    guard Constant.unlisted.isEmpty else { fail("not listed, or no constants: \(Constant.unlisted)") }
    var arguments = Array(CommandLine.arguments.dropFirst())
    let mode = arguments.first?.hasPrefix("--") == true ? arguments.removeFirst() : ""
    guard let constants = ["": Constant.all, "--points": Constant.points, "--listed": []][mode] else {
      fail("there is no option \(mode)")
    }
    guard let rules = Constant.rules(with: arguments.filter { $0.contains("=") }, of: .standard) else {
      fail("a setting is not NAME=NUMBER of a rule's points")
    }
    for constant in constants { print("constant", constant.name, constant.value(rules), separator: "\t") }
    for path in arguments where !path.contains("=") {
      do {
        try judge(path, constants, rules)
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
  private static func judge(_ path: String, _ constants: [Constant], _ standard: SurvivorRules) throws {
    let reader = try TraceReader(path: path)
    guard let snapshot = SnapshotChoice.choose(reader, number: nil) else { throw NoImage() }
    let allocations = AllocationAnalysis(reader, snapshot: snapshot)
    let analysis = LeakAnalysis(
      reader, allocations, snapshot: snapshot, toolPath: ProcessInfo.processInfo.environment["PATH"] ?? "",
      naming: Symbolicator(of: [allocations], search: DebugFileSearch()))
    let usual = Verdicts(analysis.suspicions(by: standard))
    print("listed", fileName(ofPath: path), usual.listed.joined(separator: "\t"), separator: "\t")
    let movesPoints = constants.first?.name.hasPrefix("points.") ?? false
    // Points of a rule that says nothing here are left alone. The rules as they are decide which ones speak.
    let spoken =
      movesPoints
      ? Set(analysis.suspicionAccounts().flatMap(\.entries).map { "points.\($0.rule.rawValue).\($0.effect.rawValue)" })
      : []
    for constant in constants where !movesPoints || spoken.contains(constant.name) {
      for rules in constant.moved(standard) {
        let moved = Verdicts(analysis.suspicions(by: rules))
        if movesPoints {
          guard moved.listed != usual.listed else { continue }
          print(
            "move", constant.name, constant.value(rules), fileName(ofPath: path),
            moved.listed.joined(separator: "\t"), separator: "\t")
          continue
        }
        for change in usual.changes(to: moved) {
          print(
            constant.name, constant.value(standard), constant.value(rules), fileName(ofPath: path), change,
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
  /// The title and the types on the path of each that a report lists.
  private(set) var listed: [String] = []

  init(_ findings: [Finding]) {
    for finding in findings where !finding.isLibrary {
      let title = "\(finding.verdict.rawValue) \(FindingTitle.subject(finding))"
      if finding.isWeak {
        counts[title, default: Count()].weak += 1
      } else {
        counts[title, default: Count()].strong += 1
        listed.append("\(title): \(finding.path.map(\.type).joined(separator: ", "))")
      }
    }
    listed = Set(listed).sorted()
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
