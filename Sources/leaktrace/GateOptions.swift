// Options that make a command fail because of its findings, and their evaluation.

import ArgumentParser
import FoundationEssentials
import Glibc
import TraceAnalysis

/// Options for the conditions of failure and the file of accepted findings.
struct GateOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Exit with status 1 on any of these conditions, separated by commas; 'none' never fails. See docs/ci.md.",
      valueName: "conditions"), completion: .conditions)
  var failOn: [String] = []

  @Option(help: ArgumentHelp("File of known, accepted findings.", valueName: "file"), completion: .file())
  var baseline: String?

  @Flag(
    help:
      "Write the current findings to the --baseline file. Keeps the reasons of findings that are still there, and drops findings that are gone."
  )
  var updateBaseline = false

  func validate() throws {
    if updateBaseline, baseline == nil {
      throw ValidationError("--update-baseline needs --baseline FILE, the file to write.")
    }
  }
}

/// The gates of one run: collects findings, then judges them.
struct Gatekeeper {
  private(set) var gates: GateList
  private(set) var baseline: Baseline?
  private let path: String?
  private let isUpdating: Bool
  private var findings: [Finding] = []

  /// Prints the reason before it throws an exit status.
  init(_ options: GateOptions, subject: GateList.Subject, standard: [String]) throws {
    do throws(GateSyntaxError) {
      gates = try GateList(parsing: options.failOn.isEmpty ? standard : options.failOn, for: subject)
    } catch {
      complain("--fail-on: \(error)")
      throw ExitStatus.usage.code
    }
    path = options.baseline
    isUpdating = options.updateBaseline
    if let path { baseline = try Self.read(path, isUpdating: isUpdating) }
  }

  /// Reads the baseline. Returns nil if the file does not exist, as before the first leak is accepted; then no finding
  /// is accepted.
  private static func read(_ path: String, isUpdating: Bool) throws -> Baseline? {
    guard FileManager.default.fileExists(atPath: path) else {
      if isUpdating { return Baseline() }
      complain(
        "there is no baseline \(path), so no leak is accepted yet. To accept the current ones, run 'leaktrace check' or 'leaktrace analyze' with --update-baseline."
      )
      return nil
    }
    guard let bytes = FileManager.default.contents(atPath: path) else {
      complain("cannot read the baseline \(path).")
      throw ExitStatus.usage.code
    }
    do throws(BaselineSyntaxError) {
      return try Baseline(parsing: bytes, file: path)
    } catch {
      complain("\(error)")
      throw ExitStatus.usage.code
    }
  }

  /// True if some gate needs findings, or the baseline is being updated.
  var needsFindings: Bool { gates.needsFindings || isUpdating }

  /// Adds a trace's findings, and gives the report the baseline to judge its own findings by.
  mutating func admit(_ leaks: inout LeakReport) {
    leaks.baseline = baseline
    leaks.tolerance = gates.tolerance
    leaks.judgesSuspicions = gates.judgesSuspicions
    findings += leaks.findings
  }

  /// All findings without duplicates, with their standing relative to the baseline.
  var judged: [JudgedFinding] {
    JudgedFinding.union(
      (baseline ?? Baseline()).judge(findings, tolerance: gates.tolerance, judgesSuspicions: gates.judgesSuspicions))
  }

  /// How much of the program's leaks was examined.
  enum Coverage {
    case whole
    /// The findings are right, but others may be missing, so no finding counts as gone. `cause` says why; `remedy` says
    /// when to update the baseline again.
    case limited(cause: String, remedy: String)
    /// Findings may be missing, for the given reason. No finding counts as gone, and the baseline is not changed.
    case partial(String)
  }

  /// Writes the baseline if that was requested, then judges the gates. `unjudged`: why some findings are not known at
  /// all. Then every gate fails; those that the known findings do not fail give this reason. The status covers the
  /// gates and the writing of the baseline.
  mutating func close(_ coverage: Coverage, unjudged: String?) -> (report: GateReport, status: ExitStatus) {
    let coverage = unjudged.map(Coverage.partial) ?? coverage
    var status = ExitStatus.success
    var isWhole = false
    if case .whole = coverage { isWhole = true }
    if isUpdating, let path, let old = baseline {
      switch coverage {
      case .partial(let gap): complain("\(path) was not updated: \(gap)")
      case .limited(let cause, let remedy):
        complain(
          "warning: \(cause). What was found is added to \(path), and nothing is dropped; update it again \(remedy)"
        )
        baseline = Self.write(old.extended(with: findings), to: path, &status)
      case .whole:
        baseline = Self.write(old.updated(with: findings), to: path, &status)
      }
    }
    var outcomes = gates.outcomes((baseline ?? Baseline()).judge(findings, tolerance: gates.tolerance))
    if let unjudged {
      for index in outcomes.indices where !outcomes[index].hasFailed {
        outcomes[index] = GateOutcome(
          gate: outcomes[index].gate, hasFailed: true, explanation: "cannot be judged: \(unjudged)")
      }
    }
    let report = GateReport(
      outcomes: outcomes, baselinePath: baseline == nil ? nil : path,
      gone: isWhole ? baseline?.unmatched(by: findings) ?? [] : [])
    for outcome in report.outcomes where outcome.hasFailed && unjudged == nil {
      complain("gate failed: \(outcome.gate): \(outcome.explanation)")
    }
    return (report, report.hasFailed ? .worst(status, .findings) : status)
  }

  /// Judges a comparison. A finding that the baseline accepts is known, even if the old build does not have it.
  func close(_ report: inout DiffReport) -> [GateOutcome] {
    if let baseline { report.judged = baseline.accepting(report.judged, tolerance: gates.tolerance) }
    return gates.outcomes(report)
  }

  private static func write(_ update: Baseline.Update, to path: String, _ status: inout ExitStatus) -> Baseline {
    let exists = FileManager.default.fileExists(atPath: path)
    if update.isEmpty, exists {
      complain("\(path) is up to date: \(update.baseline.entries.count) accepted")
      return update.baseline
    }
    do throws(OutputFile.Failure) {
      try OutputFile.write(update.baseline.text, to: path)
    } catch {
      complain("cannot write the baseline \(path): \(String(cString: strerror(error.errno)))")
      status = .worst(status, .outputFailed)
      return update.baseline
    }
    for entry in update.added { complain("\(path): added \(entry.description)") }
    for entry in update.changed { complain("\(path): changed \(entry.description)") }
    for entry in update.dropped { complain("\(path): dropped \(entry.description)") }
    complain(
      "\(exists ? "updated" : "wrote") \(path): \(update.added.count) added, \(update.changed.count) changed, \(update.dropped.count) dropped, "
        + "\(update.baseline.entries.count) accepted")
    return update.baseline
  }
}
