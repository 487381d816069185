// Chooses which processes of a run are judged, and gives the reason for each of the others.

import TraceAnalysis

/// Chooses by program name: the names of `--only`, or else every program outside the toolchain and the system.
struct CheckedProcesses {
  /// Patterns for program names; empty for the default choice.
  var names: [NamePattern]
  /// Judge only the test bundles (`.xctest`), because the command runs a package manager's tests.
  var isTestRun: Bool
  /// Judge every recorded process: only the program itself was recorded, and it is judged even if it belongs to the
  /// toolchain or the system.
  var choosesAll: Bool

  /// Returns the traces to judge, and the path of each program that is left out, with the reason.
  func choose(_ traces: [RecordedTrace]) -> (judged: [RecordedTrace], leftOut: [String: String]) {
    var judged: [RecordedTrace] = []
    var leftOut: [String: String] = [:]
    var last: [RecordedTrace] = []
    for trace in traces {
      // An unreadable trace counts as judged, so that the check fails.
      guard let reader = try? TraceReader(path: trace.path) else {
        judged.append(trace)
        last.append(trace)
        continue
      }
      // The process executed another program, which has its own trace.
      if reader.closing?.reason == .exec { continue }
      last.append(trace)
      let process = reader.definitions.process
      let program = TracedProgram(
        path: process.executable, images: reader.definitions.images.map(\.image.path), hasSwift: process.hasSwiftHooks)
      if let reason = reasonToLeaveOut(program) {
        leftOut[program.path] = reason
      } else {
        judged.append(trace)
      }
    }
    // A single program that was recorded alone is judged even if it is installed among the system's programs.
    if judged.isEmpty, last.count == 1, names.isEmpty, !isTestRun { return (last, [:]) }
    return (judged, leftOut)
  }

  /// True if the trace of this running process will be judged, whatever other processes run.
  func includes(_ process: RunningRecording) -> Bool {
    process.program.map { reasonToLeaveOut($0) == nil } ?? true
  }

  /// Returns the running processes whose traces will be judged.
  func choose(_ running: [RunningRecording]) -> [RunningRecording] {
    let judged = running.filter(includes)
    if judged.isEmpty, running.count == 1, names.isEmpty, !isTestRun { return running }
    return judged
  }

  private func reasonToLeaveOut(_ program: TracedProgram) -> String? {
    if choosesAll { return nil }
    if !names.isEmpty { return names.contains { $0.matches(program.name) } ? nil : "not among --only" }
    let origin = ProgramOrigin(program)
    if origin == .toolchain { return "of the toolchain" }
    if isTestRun, !program.name.hasSuffix(".xctest") { return "no test bundle" }
    switch origin {
    case .manifest: return "a package manifest"
    case .system: return "of the system"
    case .toolchain, .user: return nil
    }
  }
}
