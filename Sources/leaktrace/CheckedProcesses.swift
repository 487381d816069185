// Chooses the processes of a run to judge, with the reasons for leaving out the others.

import TraceAnalysis

/// Chooses by program: the named programs, or all except the programs of the toolchain and the system.
struct CheckedProcesses {
  /// Patterns for program names; empty for the default choice.
  var names: [NamePattern]
  /// Judge only the processes that a package manager runs as tests.
  var isTestRun: Bool
  /// Only the program itself was recorded, so it is judged whatever it is.
  var choosesAll: Bool

  /// Returns the traces to judge, and the programs left out: path and reason.
  func choose(_ traces: [RecordedTrace]) -> (judged: [RecordedTrace], leftOut: [String: String]) {
    var judged: [RecordedTrace] = []
    var leftOut: [String: String] = [:]
    var last: [RecordedTrace] = []
    for trace in traces {
      // A trace that cannot be read is judged, so that it fails.
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
    // A program that is installed among the system's programs is still judged if it was run by itself.
    if judged.isEmpty, last.count == 1, names.isEmpty, !isTestRun { return (last, [:]) }
    return (judged, leftOut)
  }

  /// True if the trace of a running process will be judged, whatever other processes exist.
  func includes(_ process: RunningRecording) -> Bool {
    process.program.map { reasonToLeaveOut($0) == nil } ?? true
  }

  /// The running processes whose traces will be judged.
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
