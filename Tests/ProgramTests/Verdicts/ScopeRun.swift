// Runs the programs of Tests/Corpus/Scopes in a variant under the recorder, and analyses each trace.

import Foundation

/// A run of one program, with or without its fault.
struct ScopeRun: Sendable {
  var program: ScopeCase
  var mode: CorpusRun.Mode
  var report: Result<VerdictReport, CommandFailure>

  var name: String { "\(program.name) \(mode.rawValue)" }
  var expected: [ScopeCase.Finding] { (mode == .leak ? program.leak : program.clean) ?? [] }

  private static let lock = NSLock()
  nonisolated(unsafe) private static var done: [CorpusVariant: [ScopeRun]] = [:]

  /// Returns the runs of a variant, for one program in `stride`. The first call makes the runs, two at a time, and
  /// blocks until they are done.
  static func all(_ variant: CorpusVariant) throws -> [ScopeRun] {
    try lock.withLock {
      if let runs = done[variant] { return runs }
      let executable = try CorpusProgram.scopes.path(variant)
      let programs = try ScopeCase.all()
      let wanted = stride(from: 0, to: programs.count, by: variant.stride).flatMap { index in
        let program = programs[index]
        return (program.leak == nil ? [CorpusRun.Mode.clean] : [.leak, .clean]).map { (program, $0) }
      }
      let directory = try TemporaryDirectory()
      let traces = wanted.map { "\(directory.path)/\($0.0.name).\($0.1.rawValue).trace" }
      let recordings = RunResults<Result<Void, CommandFailure>>(count: wanted.count)
      DispatchQueue.concurrentPerform(iterations: 2) { _ in
        while let index = recordings.next() {
          let (program, mode) = wanted[index]
          let recording = Result {
            try VerdictReport.record([executable, program.name, mode.rawValue], to: traces[index])
          }
          recordings.set(index, recording.mapError { $0 as? CommandFailure ?? CommandFailure("\($0)") })
        }
      }
      for recording in recordings.all { try recording.get() }
      let reports = try VerdictReport.read(traces: traces)
      let runs = zip(wanted, traces).map { wanted, trace in
        ScopeRun(
          program: wanted.0, mode: wanted.1,
          report: reports[trace].map(Result.success) ?? .failure(CommandFailure("no report of \(trace)")))
      }
      done[variant] = runs
      return runs
    }
  }

  /// Records a program that ends by itself, and returns the report on its trace.
  static func run(_ program: [String], environment: [String: String] = [:]) throws -> VerdictReport {
    let directory = try TemporaryDirectory()
    let trace = directory.path + "/scopes.trace"
    try VerdictReport.record(program, to: trace, environment: environment)
    return try analyze(trace)
  }

  static func analyze(_ trace: String) throws -> VerdictReport {
    let command = Command([BuildProducts.leaktrace, "analyze", "--format", "json", "--limit", "1", trace])
    let analysis = try command.run()
    guard analysis.end == .exit(0) else { throw CommandFailure("analyze: \(analysis.end) \(analysis.errorOutput)") }
    return try VerdictReport.read(analysis.output)
  }
}
