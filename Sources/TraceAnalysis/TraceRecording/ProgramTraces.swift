// Finding the traces of a recording that belong to the user's program.

import TraceReading

/// Chooses the traces of the user's program by their order, programs and parent processes.
package enum ProgramTraces {
  /// Maximum number of traces that are chosen. If there are more, only the trace with the most events is chosen.
  static let maximumCount = 3

  private struct Candidate {
    var trace: RecordedTrace
    var program: TracedProgram?
    var origin: ProgramOrigin
  }

  /// Returns the traces of the user's program, the oldest recording first. Empty only if `traces` is empty.
  ///
  /// The choice follows these rules:
  ///
  /// - If a process executes another program, it has a trace for each program. Only the last one counts.
  /// - Programs of the toolchain and the system count only if there are no other programs.
  /// - Programs without Swift count only if there are no programs with Swift.
  /// - If the command's own process ends as one of the remaining programs, only traces of that program count.
  /// - If the command is a program of the toolchain, such as `swift test`, only traces of test bundles count.
  ///
  /// - Parameter program: Describes the program of a trace; nil if the trace does not have it.
  package static func choose(
    among traces: [RecordedTrace], program: (RecordedTrace) -> TracedProgram? = { TracedProgram(tracePath: $0.path) }
  ) -> [RecordedTrace] {
    let ordered = traces.sorted { ($0.startRealtime, $0.path) < ($1.startRealtime, $1.path) }
    let last = ordered.enumerated().filter { index, trace in
      !isReplaced(trace, by: ordered[(index + 1)...])
    }.map(\.element)
    guard last.count > 1, let command = ordered.first?.processID else { return last }
    let candidates = last.map { trace in
      let program = program(trace)
      return Candidate(trace: trace, program: program, origin: program.map(ProgramOrigin.init) ?? .user)
    }
    var chosen = candidates.filter { $0.origin == .user && !isStartedByCompiler($0, among: candidates) }
    if chosen.isEmpty { return largest(of: last) }
    keep(&chosen) { $0.program?.hasSwift ?? false }
    let own = candidates.last { $0.trace.processID == command }
    if let own, own.origin == .user {
      keep(&chosen) { $0.program?.path == own.program?.path }
    } else if own?.origin == .toolchain {
      keep(&chosen) { $0.program?.name.hasSuffix(".xctest") ?? false }
    }
    let found = chosen.map(\.trace)
    return found.count <= maximumCount ? found : largest(of: found)
  }

  /// Returns the trace with the most events.
  private static func largest(of traces: [RecordedTrace]) -> [RecordedTrace] {
    traces.max { $0.eventCount < $1.eventCount }.map { [$0] } ?? []
  }

  /// Removes the candidates that do not match, unless no candidate matches.
  private static func keep(_ candidates: inout [Candidate], where matches: (Candidate) -> Bool) {
    let kept = candidates.filter(matches)
    if !kept.isEmpty { candidates = kept }
  }

  /// Returns whether the process executed another program that has a trace among `later`.
  private static func isReplaced(_ trace: RecordedTrace, by later: ArraySlice<RecordedTrace>) -> Bool {
    switch trace.state {
    case .closed(.exec), .stopped: later.contains { $0.processID == trace.processID }
    case .closed, .open: false
    }
  }

  /// Returns whether the compiler started the program. Macros and compiler plugins are also programs of the user, but
  /// they are not a part of the recorded program.
  private static func isStartedByCompiler(_ candidate: Candidate, among all: [Candidate]) -> Bool {
    all.contains {
      $0.trace.processID == candidate.trace.parentProcessID && $0.origin == .toolchain
        && ["swift-frontend", "swift-driver", "swift-plugin-server"].contains($0.program?.name)
    }
  }
}
