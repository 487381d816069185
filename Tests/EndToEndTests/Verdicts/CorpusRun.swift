// Running the whole corpus in a variant under the recorder, and analysing each trace.

import Foundation

/// One program, with or without its fault.
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

  /// The runs of a variant, one program in `stride`, made when they are first asked for, two at a time.
  ///
  /// Blocks until they are done.
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
    // Before the timing of anything can suffer from a compiler beside it.
    for (program, _) in wanted { _ = try (program.program ?? .corpus).path(variant) }
    let results = RunResults<CorpusRun>(count: wanted.count)
    DispatchQueue.concurrentPerform(iterations: 2) { _ in
      while let index = results.next() {
        let (program, mode) = wanted[index]
        let result = Result { try run(program, mode, variant) }.mapError {
          $0 as? CommandFailure ?? CommandFailure("\($0)")
        }
        results.set(
          index,
          CorpusRun(
            program: program, mode: mode, variant: variant, report: result.map(\.report), counts: result.map(\.counts)))
      }
    }
    return results.all
  }

  private static func run(_ program: CorpusCase, _ mode: Mode, _ variant: CorpusVariant) throws -> (
    report: VerdictReport, counts: CountedObjects
  ) {
    let directory = try TemporaryDirectory()
    let trace = directory.path + "/corpus.trace"
    let executable = try (program.program ?? .corpus).path(variant)
    var command = Command([
      BuildProducts.leaktrace, "record", "--quiet", "-o", trace, "--", executable, program.name, mode.rawValue,
    ])
    let recording = try command.run()
    guard recording.end == .exit(0) else { throw CommandFailure("record: \(recording.end) \(recording.errorOutput)") }
    command.arguments = [BuildProducts.leaktrace, "analyze", "--format", "json", "--limit", "1", trace]
    let analysis = try command.run()
    guard analysis.end == .exit(0) else { throw CommandFailure("analyze: \(analysis.end) \(analysis.errorOutput)") }
    return (try VerdictReport.read(analysis.output), try CountedObjects(trace: trace))
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
