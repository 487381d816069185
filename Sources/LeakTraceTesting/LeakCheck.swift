// Asking for the leaks of a scope while the process that made them runs.

import CLeakTrace
import LeakTrace

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A leak of a scope, as `leaktrace scope-report` tells it.
struct LeakFinding: Decodable {
  /// The kind of leak and its object.
  var title: String
  /// The whole finding, drawn.
  var text: String
  /// Of the objects on its path, without modules.
  var types: [String]
  var instances: Int
  /// Not the program's doing.
  var library: Bool
}

/// One piece of work whose leaks are looked for.
struct LeakCheck: Sendable {
  /// Of the scope.
  let number: UInt64
  private let name: String

  /// Begins in the calling task, or outside of tasks in the calling thread. Nil when nothing is recorded.
  init?(_ name: String, file: String, line: Int) {
    guard LeakTrace.isTracing else { return nil }
    self.name = name
    number = cleaktrace_scope_begin(name, file, UInt32(clamping: line))
    if number == 0 { return nil }
  }

  /// Ends the scope, and lets its objects stay for ever, as caches do, as long as something leads to them.
  func end() { cleaktrace_scope_end(number, .max) }

  /// Takes a heap image and has a process of its own analyse it. Blocks for as long as that takes. Returns the leaks
  /// beyond what is allowed, as texts for people; one that gives the reason if that cannot be told.
  ///
  /// `allowances`: how many instances may be leaked, by the name of a type on the finding's path.
  func failures(allowing allowances: [String: Int]) -> [String] {
    cleaktrace_clear_stack()
    return findFailures(allowing: allowances)
  }

  @inline(never)
  private func findFailures(allowing allowances: [String: Int]) -> [String] {
    let snapshot = cleaktrace_snapshot_written("no leaks: \(name)")
    if snapshot <= 0 {
      return [
        "leaks were not checked: no heap image could be taken (errno \(-snapshot)). Is it recorded with --no-snapshots?"
      ]
    }
    switch Self.report(scope: number, snapshot: snapshot) {
    case .failure(let problem): return ["leaks were not checked: \(problem.reason)"]
    case .success(let report): return Self.failures(report.findings, allowing: allowances)
    }
  }

  /// Returns what was made inside and grew with each round of a repetition inside, as texts for people; one that gives
  /// the reason if that cannot be told. Call it once it has ended. Blocks for as long as the analysis takes.
  func growthFailures(repetition: UInt64, lastImage: Int32) -> [String] {
    if lastImage <= 0 {
      return [
        "growth was not looked for: no heap image could be taken (errno \(-lastImage)). Is it recorded with --no-snapshots?"
      ]
    }
    switch Self.report(scope: number, snapshot: lastImage, options: ["--repetition", "\(repetition)"]) {
    case .failure(let problem): return ["growth was not looked for: \(problem.reason)"]
    case .success(let report):
      return report.findings.filter { !$0.library }.map { Self.trimmed($0.text, of: "grew") }
        + report.remarks.map { "growth was not judged: \($0)" }
    }
  }

  /// Instances that are allowed are taken off finding by finding.
  static func failures(_ findings: [LeakFinding], allowing allowances: [String: Int]) -> [String] {
    var left = allowances
    var failures: [String] = []
    for finding in findings where !finding.library {
      var instances = finding.instances
      for type in finding.types {
        guard let allowed = left[type], allowed > 0 else { continue }
        let taken = min(allowed, instances)
        left[type] = allowed - taken
        instances -= taken
      }
      if instances > 0 { failures.append(Self.trimmed(finding.text)) }
    }
    return failures
  }

  private static func trimmed(_ text: String, of kind: String = "leaked") -> String {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    while lines.last?.isEmpty == true { lines.removeLast() }
    return "\(kind): " + lines.joined(separator: "\n")
  }

  private struct Problem: Error { var reason: String }
  private struct Report: Decodable {
    var findings: [LeakFinding]
    var remarks: [String]
  }

  private static func report(scope: UInt64, snapshot: Int32, options: [String] = []) -> Result<Report, Problem> {
    guard let trace = cleaktrace_trace_path().map({ String(cString: $0) }) else {
      return .failure(Problem(reason: "the recording has stopped"))
    }
    let command = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
      cleaktrace_find_command(buffer.baseAddress!, buffer.count) ? String(cString: buffer.baseAddress!) : nil
    }
    guard let command else {
      return .failure(Problem(reason: "the command 'leaktrace' is not where the recorder's library is"))
    }
    let arguments =
      [command, "scope-report", "--number", "\(scope)", "--snapshot", "\(snapshot)", "--format", "json"] + options + [
        trace
      ]
    guard let (status, output) = run(arguments) else { return .failure(Problem(reason: "\(command) could not be run")) }
    guard status == 0 || status == 1, let report = try? JSONDecoder().decode(Report.self, from: output) else {
      return .failure(Problem(reason: "\(arguments.joined(separator: " ")) ended with status \(status)"))
    }
    return .success(report)
  }

  private static func run(_ arguments: [String]) -> (status: Int32, output: Data)? {
    let copies = arguments.map { text in
      let bytes = Array(text.utf8CString)
      let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
      copy.initialize(from: bytes, count: bytes.count)
      return copy
    }
    defer { for copy in copies { copy.deallocate() } }
    var output: UnsafeMutablePointer<CChar>?
    let status = cleaktrace_run(copies.map { $0 } + [nil], &output)
    guard let output else { return nil }
    defer { cleaktrace_free(output) }
    return status < 0 ? nil : (status, Data(String(cString: output).utf8))
  }
}
