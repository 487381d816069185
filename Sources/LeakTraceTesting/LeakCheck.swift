// Finds the leaks of a scope while the process is still running.

import CLeakTrace
import LeakTrace

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A leak of a scope, as `leaktrace scope-report` reports it.
struct LeakFinding: Decodable {
  /// The kind of leak and its object.
  var title: String
  /// The whole finding as rendered text.
  var text: String
  /// The types of the objects on the finding's path, without modules.
  var types: [String]
  var instances: Int
  /// True if a library has caused the leak, not the program.
  var library: Bool
}

/// One piece of work that is checked for leaks.
struct LeakCheck: Sendable {
  /// The scope's number.
  let number: UInt64
  private let name: String

  /// Begins the scope in the calling task, or outside of tasks in the calling thread. Returns nil if nothing is
  /// recorded.
  init?(_ name: String, file: String, line: Int) {
    guard LeakTrace.isTracing else { return nil }
    self.name = name
    number = cleaktrace_scope_begin(name, file, UInt32(clamping: line))
    if number == 0 { return nil }
  }

  /// Ends the scope. Its objects may live on indefinitely while something references them, as cached objects do.
  func end() { cleaktrace_scope_end(number, .max) }

  /// Takes a heap image, and runs a separate process that analyses it. Blocks until the analysis is done. Returns a
  /// text for each leak that is not allowed. If the check failed, the only text gives the reason.
  ///
  /// `allowances`: the number of leaked instances to allow, by the name of a type on the finding's path.
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

  /// Returns a text for each kind of object of this scope that grew in number with each round of a repetition inside
  /// it. If the check failed, the only text gives the reason. Call it after the repetition's end. Blocks until the
  /// analysis is done.
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

  /// Returns a text for each finding that has more instances than are allowed. Allowed instances are used up by the
  /// findings in order.
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
      return .failure(Problem(reason: "the command 'leaktrace' was not found beside the recorder's library"))
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
