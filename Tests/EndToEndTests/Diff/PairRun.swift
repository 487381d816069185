// Recording both sides of a pair, and comparing the traces.

import Foundation

/// What went otherwise than expected with a pair in one variant: a line each.
struct PairRun: Sendable {
  var pair: PairCase
  var variant: PairVariant
  /// Of the comparisons as they are written down.
  var forwards: Result<[String], CommandFailure>
  /// Of the same with the sides exchanged.
  var backwards: Result<[String], CommandFailure>
  /// Of the same with digests in place of the old side's traces.
  var digested: Result<[String], CommandFailure>
  /// Of two runs of the old side.
  var repeated: Result<[String], CommandFailure>

  private static let lock = NSLock()
  nonisolated(unsafe) private static var done: [PairVariant: [PairRun]] = [:]

  /// The runs of all pairs in a variant, made when they are first asked for, two at a time. Blocks until they are done.
  static func all(_ variant: PairVariant) throws -> [PairRun] {
    try lock.withLock {
      if let runs = done[variant] { return runs }
      let pairs = try PairCase.all()
      let results = RunResults<PairRun>(count: pairs.count)
      DispatchQueue.concurrentPerform(iterations: 2) { _ in
        while let index = results.next() { results.set(index, PairRun(pairs[index], variant)) }
      }
      done[variant] = results.all
      return results.all
    }
  }

  private init(_ pair: PairCase, _ variant: PairVariant) {
    (self.pair, self.variant) = (pair, variant)
    func attempt(_ body: () throws -> [String]) -> Result<[String], CommandFailure> {
      Result { try body() }.mapError { $0 as? CommandFailure ?? CommandFailure("\($0)") }
    }
    let recordings = Result { try PairRecordings(pair, variant) }
    let comparisons = pair.comparisons.filter { $0.variant == nil || $0.variant == variant }
    forwards = attempt {
      try comparisons.flatMap { comparison in
        let found = try recordings.get().diff(comparison.before, comparison.after, old: .before, options: comparison.options ?? [])
        return DiffComparison.mismatches(comparison, found).map { "\(comparison.options ?? []): \($0)" }
      }
    }
    backwards = attempt {
      try comparisons.map(DiffComparison.mirrored).flatMap { comparison in
        let found = try recordings.get().diff(comparison.before, comparison.after, old: .after, options: comparison.options ?? [])
        return DiffComparison.mismatches(comparison, found).map { "\(comparison.options ?? []): \($0)" }
      }
    }
    digested = attempt {
      try comparisons.flatMap { comparison in
        let found = try recordings.get().diff(comparison.before, comparison.after, old: .before, keeping: .digests, options: comparison.options ?? [])
        return DiffComparison.mismatches(comparison, found).map { "\(comparison.options ?? []): \($0)" }
      }
    }
    repeated = attempt {
      let arguments = comparisons.first?.before.map { [$0[0]] } ?? [[]]
      let found = try recordings.get().repeated(arguments[0])
      return DiffComparison.mismatches(PairCase.Comparison(unchanged: found.findings.unchanged, moved: 0, renames: []), found)
    }
  }
}

/// Traces of both sides, recorded when they are first asked for. For one thread at a time.
final class PairRecordings {
  private let pair: PairCase
  private let variant: PairVariant
  private let directory: TemporaryDirectory
  private var traces: [String: String] = [:]

  init(_ pair: PairCase, _ variant: PairVariant) throws {
    (self.pair, self.variant) = (pair, variant)
    directory = try TemporaryDirectory()
  }

  /// What is kept of the old side.
  enum Kept { case traces, digests }

  /// By side the arguments of its runs: one run without any if nil. The old side's come first.
  func diff(_ oldRuns: [[String]]?, _ newRuns: [[String]]?, old: PairSide, keeping kept: Kept = .traces, options: [String]) throws -> ReportedDiff {
    func traces(_ runs: [[String]]?, _ side: PairSide) throws -> [String] {
      try (runs ?? [[]]).enumerated().map { try trace(side, $0.element, number: $0.offset) }
    }
    var oldTraces = try traces(oldRuns, old)
    if kept == .digests { oldTraces = try oldTraces.map(digest) }
    return try Self.diff(oldTraces, traces(newRuns, old == .before ? .after : .before), options: options)
  }

  /// Two runs of the old side with the same arguments.
  func repeated(_ arguments: [String]) throws -> ReportedDiff {
    try Self.diff([trace(.before, arguments, number: 0)], [trace(.before, arguments, number: 1000)])
  }

  /// The trace of a side's run, one for each number.
  func trace(_ side: PairSide, _ arguments: [String], number: Int) throws -> String {
    let name = "\(side.rawValue)-\(arguments.joined(separator: "-"))-\(number).trace"
    if let path = traces[name] { return path }
    let program = try PairProgram(pair: pair, side: side, variant: variant).path()
    let path = "\(directory.path)/\(name)"
    var command = Command([BuildProducts.leaktrace, "record", "--quiet", "-o", path, "--", program] + arguments)
    command.timeLimit = 60
    let recording = try command.run()
    guard recording.end == .exit(0) else { throw CommandFailure("record: \(recording.end) \(recording.errorOutput)") }
    traces[name] = path
    return path
  }

  private func digest(of trace: String) throws -> String {
    let path = trace + ".digest"
    let outcome = try Command([BuildProducts.leaktrace, "digest", trace, "-o", path]).run()
    guard outcome.end == .exit(0) else { throw CommandFailure("digest: \(outcome.end) \(outcome.errorOutput)") }
    return path
  }

  static func diff(_ old: [String], _ new: [String], options: [String] = []) throws -> ReportedDiff {
    let runs = old.flatMap { ["--old", $0] } + new.flatMap { ["--new", $0] }
    var command = Command([BuildProducts.leaktrace, "diff", "--format", "json", "--limit", "0"] + options + runs)
    command.timeLimit = 120
    let outcome = try command.run()
    guard outcome.end == .exit(0) || outcome.end == .exit(1) else { throw CommandFailure("diff: \(outcome.end) \(outcome.errorOutput)") }
    let diff = try ReportedDiff.read(outcome.output)
    // The gates that are closed unless told otherwise.
    let fails = diff.findings.changes.contains { ["new", "worse"].contains($0.kind) }
    guard (outcome.end == .exit(1)) == fails else { throw CommandFailure("diff: \(outcome.end) with \(diff.findings.changes) \(outcome.errorOutput)") }
    return diff
  }
}
