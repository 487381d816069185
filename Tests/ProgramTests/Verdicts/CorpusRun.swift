// Runs the whole corpus in a variant under the recorder, and analyses each trace.

import Foundation

/// A run of one program, with or without its fault.
struct CorpusRun: Sendable {
  enum Mode: String, Sendable { case leak, clean }

  var program: CorpusCase
  var mode: Mode
  var variant: CorpusVariant
  var report: Result<VerdictReport, CommandFailure>
  var counts: Result<CountedObjects, CommandFailure>

  var name: String { "\(program.name) \(mode.rawValue) (\(variant.rawValue))" }

  var expected: [ExpectedFinding] {
    ((mode == .leak ? program.leak : program.clean) ?? []).filter {
      $0.variants?.contains(variant.expectations) ?? true
    }
  }

  private static let lock = NSLock()
  nonisolated(unsafe) private static var done: [CorpusVariant: [CorpusRun]] = [:]

  /// Returns the runs of a variant, for one program in `stride`. The first call makes the runs, two at a time.
  ///
  /// Blocks until the runs are done.
  static func all(_ variant: CorpusVariant) throws -> [CorpusRun] {
    try lock.withLock {
      if let runs = done[variant] { return runs }
      let runs = try make(variant)
      done[variant] = runs
      return runs
    }
  }

  private static func make(_ variant: CorpusVariant) throws -> [CorpusRun] {
    let programs = try CorpusCase.all().filter { $0.exists(in: variant) }
    let wanted = stride(from: 0, to: programs.count, by: variant.stride).flatMap { index in
      let program = programs[index]
      return (program.leak == nil ? [Mode.clean] : [.leak, .clean]).map { (program, $0) }
    }
    // Build everything first, so that no compiler disturbs the timing of a run.
    for (program, _) in wanted { _ = try (program.program ?? .corpus).path(variant) }
    let directory = try TemporaryDirectory()
    let traces = wanted.map { "\(directory.path)/\($0.0.name).\($0.1.rawValue).trace" }
    let recordings = RunResults<Result<Void, CommandFailure>>(count: wanted.count)
    DispatchQueue.concurrentPerform(iterations: 2) { _ in
      while let index = recordings.next() {
        let (program, mode) = wanted[index]
        recordings.set(
          index,
          Self.attempt {
            try VerdictReport.record(
              [try (program.program ?? .corpus).path(variant), program.name, mode.rawValue], to: traces[index])
          })
      }
    }
    let recorded = zip(traces, recordings.all).compactMap { trace, recording in
      if case .success = recording { trace } else { nil }
    }
    let reports = Self.attempt { try VerdictReport.read(traces: recorded) }
    return zip(zip(wanted, traces), recordings.all).map { pair, recording in
      let ((program, mode), trace) = pair
      return CorpusRun(
        program: program, mode: mode, variant: variant,
        report: recording.flatMap { reports }.flatMap { reports in
          reports[trace].map(Result.success) ?? .failure(CommandFailure("no report of \(trace)"))
        },
        counts: recording.flatMap { Self.attempt { try CountedObjects(trace: trace) } })
    }
  }

  private static func attempt<Value>(_ body: () throws -> Value) -> Result<Value, CommandFailure> {
    Result { try body() }.mapError { $0 as? CommandFailure ?? CommandFailure("\($0)") }
  }
}

/// Results that two threads fill in.
final class RunResults<Run: Sendable>: @unchecked Sendable {
  private let lock = NSLock()
  private var runs: [Run?]
  private var given = 0

  init(count: Int) { runs = Array(repeating: nil, count: count) }

  func next() -> Int? {
    lock.withLock {
      guard given < runs.count else { return nil }
      given += 1
      return given - 1
    }
  }

  func set(_ index: Int, _ run: Run) { lock.withLock { runs[index] = run } }
  var all: [Run] { lock.withLock { runs.compactMap { $0 } } }
}
