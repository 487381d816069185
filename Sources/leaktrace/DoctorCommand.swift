// `leaktrace doctor`: which features work here, or for a process, and what enables the others.

import ArgumentParser
import Glibc
import TraceAnalysis

struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Report which features work here, or for a process, and what enables the others.",
    discussion: """
      Tries each feature on small programs of its own: it records one, takes a heap image on request, copies one, and joins one. \
      For a process, it reads some bytes of its memory and traces it without stopping it. Nothing is left behind.

      For each feature that does not work, one line says why, and one names the change that enables it.

      Exit status: 0 all checked features work, perhaps on a condition that is shown, 1 one does not, \
      3 there is no such process, 5 the output could not be written, 64 wrong usage.
      """)

  @Argument(
    help: ArgumentHelp("Process ID, container ID or control group. (default: this machine)", valueName: "pid|container")
  )
  var target: String?

  @Option(
    name: .customLong("feature"),
    help: ArgumentHelp("Check only this feature. Repeatable.", valueName: "feature"))
  var features: [Feature] = []

  @Option(
    name: [.short, .long],
    help: ArgumentHelp("Directory for traces. (default: the current one)", valueName: "directory")
  )
  var output: String?

  @OptionGroup var formatOption: FormatOption

  @OptionGroup var layout: LayoutOptions

  func run() throws {
    let asked = features.isEmpty ? Feature.allCases : Feature.allCases.filter { features.contains($0) }
    let process = try target.map(Self.process)
    let facts: CheckedFacts
    do throws(InspectionError) {
      facts = try FeatureCheck.facts(for: asked, process: process, surroundings())
    } catch {
      complain(Self.explanation(of: error, process))
      throw ExitStatus.unreadable.code
    }
    let report = FeatureReport(facts, FeatureJudgement(facts).verdicts(for: asked))
    let text = formatOption.format == .json ? report.json() : report.text(style: layout.style())
    try ObjectQuestion.show(text, called: "the report")
    if !report.allWork { throw ExitStatus.findings.code }
  }

  private static func process(_ target: String) throws -> Int32 {
    do {
      return try ContainerProcess.resolve(target)
    } catch {
      complain("\(error)")
      throw ExitStatus.unreadable.code
    }
  }

  /// Explains the error. A number from inside a container names another process here, so the message suggests the
  /// processes that have this number in a container.
  private static func explanation(of error: InspectionError, _ process: Int32?) -> String {
    guard case .noSuchProcess(let number) = error else { return "\(error)" }
    let others = TargetFacts.processes(withOwnNumber: number).prefix(4).map(String.init)
    guard !others.isEmpty else { return "\(error)" }
    return "there is no process \(number) here. In a container, \(number) is the process "
      + others.joined(separator: " or ") + " of this machine"
  }

  private func surroundings() -> CheckSurroundings {
    let current = RecordingRun.currentDirectory() ?? "/"
    let directory = output.map { $0.hasPrefix("/") ? $0 : "\(current)/\($0)" } ?? current
    return CheckSurroundings(
      environment: TargetProcess.inheritedEnvironment(), toolPath: RecordingRun.variable("PATH") ?? "",
      libraryOverride: RecordingRun.variable("LEAKTRACE_LIBRARY"), executablePath: RecordingRun.ownPath(),
      waitingArguments: [DoctorChildCommand.configuration.commandName!],
      temporaryDirectories: [RecordingRun.variable("TMPDIR"), "/tmp"].compactMap { $0 }.filter { $0.hasPrefix("/") },
      traceDirectory: directory,
      currentDirectory: current)
  }
}

extension Feature: ExpressibleByArgument {}

/// The process that `doctor` starts and then examines. It waits until its standard input ends.
struct DoctorChildCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor-child", abstract: "Wait for the end of standard input.", shouldDisplay: false)

  func run() throws {
    var byte = UInt8(ascii: "\n")
    guard write(STDOUT_FILENO, &byte, 1) == 1 else { return }
    while true {
      let count = read(STDIN_FILENO, &byte, 1)
      if count == 0 || count < 0 && errno != EINTR { return }
    }
  }
}
