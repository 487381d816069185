// Records both sides of a pair, and compares the traces.

import Foundation
import TestRequirements

/// The mismatches of a pair in one variant. Each mismatch is one line.
struct PairRun: Sendable {
  var pair: PairCase
  var variant: PairVariant
  /// Mismatches of the comparisons as written, between traces.
  var forwards: Result<[String], CommandFailure>
  /// Mismatches of the same comparisons, with digests in place of the old side's traces.
  var digested: Result<[String], CommandFailure>
  /// Mismatches of the same comparisons with the sides exchanged, between digests.
  var backwards: Result<[String], CommandFailure>
  /// Mismatches between two runs of the old side, as digests.
  var repeated: Result<[String], CommandFailure>

  private static let lock = NSLock()
  nonisolated(unsafe) private static var done: [PairVariant: [PairRun]] = [:]

  /// Returns the runs of all pairs that are compiled in a variant. The first call makes the runs, two at a time, and
  /// blocks until they are done.
  static func all(_ variant: PairVariant) throws -> [PairRun] {
    try lock.withLock {
      if let runs = done[variant] { return runs }
      let all = try PairCase.all().filter { !$0.comparisons(in: variant).isEmpty }
      // The first tier tests one pair in four.
      let pairs = TestTier.arguments(stride(from: 0, to: all.count, by: 4).map { all[$0] }, of: all)
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
    let comparisons = pair.comparisons(in: variant)
    func mismatches(_ comparisons: [PairCase.Comparison], old: PairSide, _ kept: PairRecordings.Kept) -> Result<
      [String], CommandFailure
    > {
      attempt {
        try comparisons.flatMap { comparison in
          let found = try recordings.get().diff(comparison, old: old, keeping: kept)
          return DiffComparison.mismatches(comparison, found).map { "\(comparison.options ?? []): \($0)" }
        }
      }
    }
    forwards = mismatches(comparisons, old: .before, .traces)
    digested = mismatches(comparisons, old: .before, .digestsOfOld)
    backwards = mismatches(comparisons.map(DiffComparison.mirrored), old: .after, .digests)
    repeated = attempt {
      let arguments = comparisons.first?.before?.first ?? []
      let found = try recordings.get().repeated(arguments)
      return DiffComparison.mismatches(
        PairCase.Comparison(unchanged: found.findings.unchanged, moved: 0, renames: []), found)
    }
  }
}

/// Traces of both sides and their digests, each made at its first use. Not thread-safe.
final class PairRecordings {
  private let pair: PairCase
  private let variant: PairVariant
  private let directory: TemporaryDirectory
  private var made: Set<String> = []

  init(_ pair: PairCase, _ variant: PairVariant) throws {
    (self.pair, self.variant) = (pair, variant)
    directory = try TemporaryDirectory()
  }

  /// The kind of files that the sides are read from.
  enum Kept { case traces, digestsOfOld, digests }

  /// Compares the sides, where `comparison.before` has the runs of the side `old`.
  func diff(_ comparison: PairCase.Comparison, old: PairSide, keeping kept: Kept) throws -> ReportedDiff {
    func files(_ runs: [[String]]?, _ side: PairSide, areDigests: Bool) throws -> [String] {
      try (runs ?? [[]]).enumerated().map {
        try areDigests ? digest(side, $1, number: $0) : trace(side, $1, number: $0)
      }
    }
    return try Self.diff(
      files(comparison.before, old, areDigests: kept != .traces),
      files(comparison.after, old == .before ? .after : .before, areDigests: kept == .digests),
      options: comparison.options ?? [])
  }

  /// Compares two runs of the old side with the same arguments.
  func repeated(_ arguments: [String]) throws -> ReportedDiff {
    try Self.diff([digest(.before, arguments, number: 0)], [digest(.before, arguments, number: 1000)])
  }

  /// Returns the trace of a side's run. Each `number` has its own run.
  func trace(_ side: PairSide, _ arguments: [String], number: Int) throws -> String {
    let path = "\(directory.path)/\(side.rawValue)-\(arguments.joined(separator: "-"))-\(number).trace"
    if made.contains(path) { return path }
    let program = try PairProgram(pair: pair, side: side, variant: variant).path()
    let command = Command([BuildProducts.leaktrace, "record", "--quiet", "-o", path, "--", program] + arguments)
    let recording = try command.run()
    guard recording.end == .exit(0) else { throw CommandFailure("record: \(recording.end) \(recording.errorOutput)") }
    made.insert(path)
    return path
  }

  /// Returns the digest of the trace of that run.
  func digest(_ side: PairSide, _ arguments: [String], number: Int) throws -> String {
    let trace = try trace(side, arguments, number: number)
    let path = trace + ".digest"
    if made.contains(path) { return path }
    let outcome = try Command([BuildProducts.leaktrace, "digest", trace, "-o", path]).run()
    guard outcome.end == .exit(0) else { throw CommandFailure("digest: \(outcome.end) \(outcome.errorOutput)") }
    made.insert(path)
    return path
  }

  static func diff(_ old: [String], _ new: [String], options: [String] = []) throws -> ReportedDiff {
    let runs = old.flatMap { ["--old", $0] } + new.flatMap { ["--new", $0] }
    let command = Command([BuildProducts.leaktrace, "diff", "--format", "json", "--limit", "0"] + options + runs)
    let outcome = try command.run()
    guard outcome.end == .exit(0) || outcome.end == .exit(1) else {
      throw CommandFailure("diff: \(outcome.end) \(outcome.errorOutput)")
    }
    let diff = try ReportedDiff.read(outcome.output)
    // By default, new and worse findings fail the diff.
    let fails = diff.findings.changes.contains { ["new", "worse"].contains($0.kind) }
    guard (outcome.end == .exit(1)) == fails else {
      throw CommandFailure("diff: \(outcome.end) with \(diff.findings.changes) \(outcome.errorOutput)")
    }
    return diff
  }
}
