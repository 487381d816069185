// The traces of a recording that belong to the user's program.

import TraceReading

/// Chooses among the traces of one recording by their order, programs and parents.
package enum ProgramTraces {
  /// Maximum number of traces that a message names. With more, it names the one with the most events.
  package static let maximumCount = 3

  private struct Candidate {
    var trace: RecordedTrace
    var program: TracedProgram?
    var origin: ProgramOrigin
  }

  /// Returns the traces of the user's program, the oldest recording first. Empty only if `traces` is.
  ///
  /// A process that executes another program has a trace of each, and only the last one counts. Programs of the
  /// toolchain and the system count only if there are no others. Programs with Swift come before programs without. If the
  /// command itself is or becomes one of the remaining programs, only traces of that program count. If it is of the
  /// toolchain, as `swift test` is, only traces of test bundles count.
  /// - Parameter program: Describes the program of a trace; nil if the trace does not say.
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

  /// The trace with the most events.
  private static func largest(of traces: [RecordedTrace]) -> [RecordedTrace] {
    traces.max { $0.eventCount < $1.eventCount }.map { [$0] } ?? []
  }

  /// Leaves only the candidates that match, unless none does.
  private static func keep(_ candidates: inout [Candidate], where matches: (Candidate) -> Bool) {
    let kept = candidates.filter(matches)
    if !kept.isEmpty { candidates = kept }
  }

  /// The process went on as another program, which has a trace among `later`.
  private static func isReplaced(_ trace: RecordedTrace, by later: ArraySlice<RecordedTrace>) -> Bool {
    switch trace.state {
    case .closed(.exec), .stopped: later.contains { $0.processID == trace.processID }
    case .closed, .open: false
    }
  }

  /// Macros and plugins of the compiler are the user's programs, too, but no part of the program that runs.
  private static func isStartedByCompiler(_ candidate: Candidate, among all: [Candidate]) -> Bool {
    all.contains {
      $0.trace.processID == candidate.trace.parentProcessID && $0.origin == .toolchain
        && ["swift-frontend", "swift-driver", "swift-plugin-server"].contains($0.program?.name)
    }
  }
}
