// The tasks of live processes, recordings, light recordings and core files, compared with what programs expect.

import Foundation
import TestRequirements
import Testing
import TraceReading

/// The expectation at the beginning of a program in Tests/Programs/tasks.
struct ExpectedTasks: Decodable {
  struct Row: Decodable {
    var count: Int
    var state: String
    /// The name of the source lines where the tasks wait.
    var at: String
    var wait: String
    var resumedBy: String
    var cancelled: Bool?
  }

  struct Deadlocks: Decodable, Equatable {
    /// The number of members of each deadlock, in ascending order.
    var threads: [Int]
    var tasks: [Int]
  }

  var about: String
  var tasks: Int
  var states: [String: Int]
  var rows: [Row]
  var deadlocks: Deadlocks
  var starved: Bool

  /// Reads the expectation of a program, and the lines of each name.
  static func read(_ program: String) throws -> (expected: ExpectedTasks, lines: [String: Set<Int>]) {
    let path = BuildProducts.packageRoot + "/Tests/Programs/tasks/\(program).swift"
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let start = try #require(text.range(of: "/* expect"))
    let end = try #require(text.range(of: "*/"))
    let expected = try JSONDecoder().decode(
      ExpectedTasks.self, from: Data(text[start.upperBound..<end.lowerBound].utf8))
    var lines: [String: Set<Int>] = [:]
    for (index, line) in text.components(separatedBy: "\n").enumerated() {
      guard let mark = line.range(of: "// at: ") else { continue }
      let name = line[mark.upperBound...].split(separator: " ").first.map(String.init) ?? ""
      lines[name, default: []].insert(index + 1)
    }
    return (expected, lines)
  }
}

/// The document that `leaktrace tasks --format json` prints.
private struct TaskDocument: Decodable {
  struct Frame: Decodable {
    var function: String
    var line: Int?
    var own: Bool
  }

  struct Row: Decodable {
    var count: Int
    var state: String
    var title: String
    var wait: String?
    var resumedBy: String?
    var cancelled: Bool
    var stack: [Frame]
  }

  struct Deadlock: Decodable {
    var threads: [Int]
    var tasks: [Int]
  }

  var states: [String: Int]
  var rows: [Row]
  var deadlocks: [Deadlock]
  var starved: Bool
}

@Suite(.requires(.command)) struct TaskTests {
  enum Source: String, CaseIterable { case inspected, recorded, light, core }

  private static let programs: [String] = {
    let directory = BuildProducts.packageRoot + "/Tests/Programs/tasks"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return names.filter { $0.hasSuffix(".swift") }.map { String($0.dropLast(6)) }.sorted()
  }()

  private static let cases: [(String, Source, String)] = {
    let all = programs.flatMap { program in
      Source.allCases.flatMap { source in ["-O", "-Onone"].map { (program, source, $0) } }
    }
    let first = all.filter { program, source, level in
      level == "-O" && (program == "every-wait" || source == .inspected && program.hasPrefix("dead-"))
    }
    return TestTier.arguments(first, of: all)
  }()

  /// Starts a program that calls `snapshotAndStay`. Returns it, and the target for `leaktrace tasks`.
  static func waiting(_ built: TestProgram, _ source: Source) throws -> (InspectionTests.Waiting, target: String) {
    let recorder = [BuildProducts.leaktrace, "record", "--quiet", "-o", "%DIRECTORY%/%p.trace"]
    let waiting: InspectionTests.Waiting
    switch source {
    case .inspected, .core: waiting = try InspectionTests.Waiting(built)
    case .recorded: waiting = try InspectionTests.Waiting(built, under: recorder + ["--"])
    case .light: waiting = try InspectionTests.Waiting(built, under: recorder + ["--light", "--"])
    }
    switch source {
    case .inspected: return (waiting, "\(waiting.processID)")
    case .recorded, .light:
      // The program goes on before its image is written.
      let trace = try AwaitedState.value("the trace has a whole image") {
        waiting.trace().flatMap { path in
          (try? TraceReader(path: path))?.snapshots.last?.isWhole == true ? path : nil
        }
      }
      return (waiting, trace)
    case .core:
      let core = waiting.directory.path + "/core"
      _ = try Command(["gdb", "-nx", "-batch", "-p", "\(waiting.processID)", "-ex", "gcore \(core)"]).run()
      return (waiting, core)
    }
  }

  @Test("A program's tasks have the states, lines and resumers that it expects", .requires(.debugger), arguments: cases)
  func expectations(program: String, source: Source, level: String) throws {
    let (expected, lines) = try ExpectedTasks.read(program)
    let built = TestProgram(
      named: program, sources: ["tasks/\(program).swift", "task-support.swift"], flags: [level, "-parse-as-library"])
    let (waiting, target) = try Self.waiting(built, source)
    defer { _ = try? waiting.end(SIGKILL) }
    let outcome = try Command([BuildProducts.leaktrace, "tasks", target, "--format", "json"]).run()
    try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
    let found = try JSONDecoder().decode(TaskDocument.self, from: Data(outcome.output.utf8))
    let shown = found.rows.map { "\($0.title), \($0.resumedBy ?? "-"), \($0.stack.compactMap(\.line))" }
    #expect(found.states.filter { $0.value > 0 } == expected.states.filter { $0.value > 0 }, "\(shown)")
    #expect(found.states.values.reduce(0, +) == expected.tasks)
    let named = lines.values.reduce(Set()) { $0.union($1) }
    for row in expected.rows {
      let places = try #require(lines[row.at], "no line is called \(row.at)")
      let there = found.rows.filter { candidate in
        // The innermost line with a name decides.
        let place = candidate.stack.filter(\.own).compactMap(\.line).first { named.contains($0) }
        return candidate.state == row.state && place.map(places.contains) ?? false
      }
      let matching = there.filter {
        $0.wait == row.wait && $0.resumedBy == row.resumedBy && $0.cancelled == row.cancelled ?? false
      }
      #expect(matching.reduce(0) { $0 + $1.count } == row.count, "\(row) in \(shown)")
      let all = expected.rows.filter { $0.at == row.at && $0.state == row.state }.reduce(0) { $0 + $1.count }
      #expect(there.reduce(0) { $0 + $1.count } == all, "\(row) in \(shown)")
    }
    let deadlocks = ExpectedTasks.Deadlocks(
      threads: found.deadlocks.filter { $0.tasks.isEmpty }.map(\.threads.count).sorted(),
      tasks: found.deadlocks.filter { $0.threads.isEmpty }.map(\.tasks.count).sorted())
    #expect(deadlocks == expected.deadlocks)
    #expect(found.starved == expected.starved)
  }
}
