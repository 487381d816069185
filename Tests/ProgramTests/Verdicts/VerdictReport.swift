// The parts of `analyze`'s JSON that the tests read: findings, and the live blocks of each type.

import Foundation

struct VerdictReport: Decodable, Sendable {
  struct TypeTotal: Decodable, Sendable {
    struct Total: Decodable, Sendable { var liveBlocks: Int }
    var name: String
    var total: Total
  }

  /// The traces that the report is about.
  var traces: [Trace]?
  /// The findings; nil if the report does not mention findings at all.
  var findings: [ReportedFinding]?
  var types: [TypeTotal]

  struct Trace: Decodable, Sendable { var path: String }

  private struct Document: Decodable { var reports: [VerdictReport] }

  /// Reads the report of a single trace.
  static func read(_ json: String) throws -> VerdictReport {
    let reports = try JSONDecoder().decode(Document.self, from: Data(json.utf8)).reports
    guard reports.count == 1 else { throw CommandFailure("\(reports.count) reports of one trace") }
    return reports[0].withoutWeakSuspicions
  }

  private var withoutWeakSuspicions: VerdictReport {
    var report = self
    report.findings = report.findings?.filter { $0.strength != "weak" }
    return report
  }

  /// Records a program that ends by itself with success. Preloads the library without `record`.
  static func record(_ program: [String], to trace: String, environment: [String: String] = [:]) throws {
    var command = Command(program)
    command.environment.merge(environment) { $1 }
    command.environment["LD_PRELOAD"] = BuildProducts.preloadLibrary
    command.environment["LEAKTRACE_OUTPUT"] = trace
    let recording = try command.run()
    guard recording.end == .exit(0) else { throw CommandFailure("\(recording.end) \(recording.errorOutput)") }
  }

  /// Returns the reports of many traces, by path. Two processes make them.
  static func read(traces: [String]) throws -> [String: VerdictReport] {
    guard !traces.isEmpty else { return [:] }
    let halves = [Array(traces[..<(traces.count / 2)]), Array(traces[(traces.count / 2)...])].filter { !$0.isEmpty }
    let analyses = try halves.map {
      try Command([BuildProducts.leaktrace, "analyze", "--format", "json", "--limit", "1"] + $0).start()
    }
    var result: [String: VerdictReport] = [:]
    for analysis in analyses {
      let outcome = try analysis.wait()
      guard outcome.end == .exit(0) else { throw CommandFailure("analyze: \(outcome.end) \(outcome.errorOutput)") }
      for report in try JSONDecoder().decode(Document.self, from: Data(outcome.output.utf8)).reports {
        guard let traces = report.traces, traces.count == 1 else {
          throw CommandFailure("a report is not of one trace")
        }
        result[traces[0].path] = report.withoutWeakSuspicions
      }
    }
    return result
  }

  func liveBlocks(ofType name: String) -> Int {
    types.lazy.filter { $0.name == name }.reduce(0) { $0 + $1.total.liveBlocks }
  }
}

struct ReportedFinding: Decodable, Equatable, Sendable {
  struct Step: Decodable, Equatable, Sendable {
    struct Edge: Decodable, Equatable, Sendable {
      var name: String
      /// The case of an enumeration, if it is known.
      var caseName: String?
      private enum CodingKeys: String, CodingKey { case name, caseName = "case" }
      /// The name with the case, in the form of the corpus's data.
      var fullName: String { caseName.map { "\(name) case \($0)" } ?? name }
    }
    var type: String?
    var kind: String
    /// The function that allocated the block.
    var function: String?
    var size: Int?
    /// The reference to the next step. The last step of a cycle has the reference to the first; nil where a path ends.
    var edge: Edge?

    /// The member's name in the corpus's data.
    var member: String { kind == "object" ? type ?? kind : kind }
  }

  struct Way: Decodable, Equatable, Sendable {
    var kind: String
    var holder: String
  }

  var verdict: String
  var certainty: String?
  /// The strength of a suspicion. The text report does not list weak ones.
  var strength: String?
  var way: Way?
  var library: Bool
  var libraryReason: String?
  var instances: Int
  var retainedObjects: Int?
  var path: [Step]
  var advice: [String] = []
  var hidden: Bool?
  /// Details of an object that outlived its scope or accumulates.
  var outliving: SurvivorEvidence?

  struct SurvivorEvidence: Decodable, Equatable, Sendable {
    struct Statement: Decodable, Equatable, Sendable {
      var kind: String
      var name: String
      var line: Int
      var executions: Int?
      var executionsWithRest: Int?
      var met: Int?
      var late: Int?
      var violated: Int?
    }

    var holder: String
    var registration: String?
    var suspect: Int
    var births: Int
    var deaths: Int
    var snapshot: Int?
    var growth: [Int]
    var statement: Statement?
  }
}
