// The answers of `verify` and of `check --against`: the asked findings, the output, and the exit status.

import ArgumentParser
import TraceAnalysis

/// The option that chooses findings of the old run.
struct AskedFindings: ParsableArguments {
  @Option(
    name: .customLong("finding"),
    help: ArgumentHelp(
      "Answer only for the finding of the old run with this fingerprint, or its beginning. Repeatable.",
      valueName: "fingerprint"))
  var fingerprints: [String] = []

  /// Returns the whole fingerprints of the asked findings. If a run has no such finding, prints the reason and throws an
  /// exit status.
  func resolved(in old: RunDigest) throws -> Set<String> {
    let findings = (old.findings ?? []).map(\.finding)
    var result: Set<String> = []
    for asked in fingerprints where old.findings != nil {
      let found = findings.filter { !asked.isEmpty && $0.fingerprint.hasPrefix(asked) }
      let names = Set(found.map(\.fingerprint))
      let own = Set(found.filter { !$0.isLibrary }.map(\.fingerprint))
      guard names.count <= 1 else {
        complain("\(asked) is the beginning of \(names.count) fingerprints: \(names.sorted().joined(separator: ", "))")
        throw ExitStatus.usage.code
      }
      guard let fingerprint = own.first else {
        complain(
          names.isEmpty
            ? "\(old.path) has no finding \(asked). \(Self.known(findings))"
            : "the finding \(asked) is not the program's. Only the program's findings are compared.")
        throw ExitStatus.notFound.code
      }
      result.insert(fingerprint)
    }
    return result
  }

  private static func known(_ findings: [Finding]) -> String {
    let known = Set(findings.filter { !$0.isLibrary }.map(\.fingerprint)).sorted()
    guard !known.isEmpty else { return "It has no finding of the program." }
    let rest = known.count - shownFingerprints
    return "It has \(known.prefix(shownFingerprints).joined(separator: ", "))"
      + (rest > 0 ? " and \(rest) more." : ".")
  }

  private static let shownFingerprints = 5
}

/// Computes, writes and judges the answers about one old run.
struct FixAnswers {
  let old: RunDigest
  private let asked: Set<String>
  private let isUntrusted: Bool

  /// Prints the reason before it throws an exit status.
  init(old: RunDigest, asked: AskedFindings, isUntrusted: Bool) throws {
    (self.old, self.isUntrusted) = (old, isUntrusted)
    self.asked = try asked.resolved(in: old)
  }

  /// Returns the answers for new runs. Prints the reason before it throws an exit status.
  func report(_ new: [RunDigest]) throws -> FixReport {
    do throws(RunComparison.Failure) {
      return try RunComparison.verification(old: old, new: new, findings: asked, isUntrusted: isUntrusted)
    } catch {
      complain(error.explanation)
      throw ExitStatus.unreadable.code
    }
  }

  /// Throws if the outputs have a format without answers.
  static func validate(_ outputs: ReportOutputs, option: String) throws {
    for format in [outputs.format] + outputs.write.map(\.format)
    where ![.text, .json, .markdown, .briefJSON].contains(format) {
      throw ValidationError("\(option) writes text, json, markdown and brief-json, not \(format.rawValue).")
    }
  }

  /// Writes the answers in all requested formats. `file`: the file that replaces standard output; nil for none.
  static func deliver(_ report: FixReport, _ outputs: ReportOutputs, style: TextStyle, to file: String? = nil) throws {
    try outputs.deliver(style: style, to: file) { format, style in
      switch format {
      case .json: FixJSON.text(report)
      case .markdown: FixMarkdown.text(report)
      case .briefJSON: BriefReport.verification(report, size: outputs.briefSize.bytes).compactText + "\n"
      default: FixText(style: style).text(report)
      }
    }
  }

  /// The status of the answers: `findings` if an old finding is still there or one is new, `unproven` if a finding may be
  /// gone but no run shows that. `unreadable` outweighs both if a run's findings are not known.
  static func status(_ report: FixReport) -> ExitStatus {
    var status = ExitStatus.success
    if report.isUndecided { status = .unproven }
    if report.hasFailed { status = .worst(status, .findings) }
    return report.unjudged.isEmpty ? status : .worst(status, .unreadable)
  }
}

extension RunComparison.Failure {
  /// Describes the failure: the problem, and the next step for the user.
  var explanation: String {
    switch self {
    case .scopeMissing(let name, let path, let known):
      let has = known.isEmpty ? "it has none" : "it has \(known.map { "'\($0)'" }.joined(separator: ", "))"
      return
        "\(path) has no run of a scope '\(name)'; \(has). Mark one with LeakTrace.scope(\"\(name)\"), or use --per events."
    case .tooManyFunctions(let path):
      return
        "\(path) cannot be compared: the stacks of its sites have more functions than a run with so many sites may have."
    }
  }
}
