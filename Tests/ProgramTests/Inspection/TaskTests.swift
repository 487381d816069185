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

  /// A node of the tree, by the name of the source lines where its tasks wait.
  struct Node: Decodable, Hashable {
    var count: Int
    var depth: Int
    var groups: Int
    var at: String
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
  var tree: [Node]?
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

  struct Node: Decodable {
    var row: Int
    var count: Int
    var parent: Int?
    var groups: Int
  }

  struct Actor: Decodable {
    struct Earlier: Decodable {
      var secondsBefore: Double?
      var count: Int
      var left: Int
    }
    var type: String
    var queue: [Int]
    var thread: Int?
    var grows: Bool
    var earlier: Earlier?
  }

  struct Thread: Decodable {
    var blockedIn: String?
    var functions: [Frame]
  }

  var tree: [Node]
  var actors: [Actor]
  var threads: [Thread]
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
    #expect(found.tree.reduce(0) { $0 + $1.count } == expected.tasks)
    guard let tree = expected.tree else { return }
    var depths: [Int] = []
    var nodes: [ExpectedTasks.Node] = []
    for node in found.tree {
      depths.append(node.parent.map { depths[$0] + 1 } ?? 0)
      let place = found.rows[node.row].stack.filter(\.own).compactMap(\.line).first { named.contains($0) }
      let name = lines.first { place.map($0.value.contains) ?? false }?.key ?? ""
      nodes.append(.init(count: node.count, depth: depths[depths.count - 1], groups: node.groups, at: name))
    }
    func counts(_ nodes: [ExpectedTasks.Node]) -> [ExpectedTasks.Node: Int] {
      Dictionary(nodes.map { ($0, 1) }, uniquingKeysWith: +)
    }
    #expect(counts(nodes) == counts(tree), "\(nodes)")
  }

  // MARK: Queues of actors

  private static func actors(_ target: String, _ options: [String] = []) throws -> TaskDocument {
    let outcome = try Command([BuildProducts.leaktrace, "tasks", target, "--format", "json"] + options).run()
    try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
    return try JSONDecoder().decode(TaskDocument.self, from: Data(outcome.output.utf8))
  }

  @Test("A queue that only grows is named, with the thread that runs the actor", arguments: ["recorded", "light"])
  func growingQueue(way: String) throws {
    let program = TestProgram(named: "actor-queues", sources: ["actor-queues.swift"], flags: ["-parse-as-library"])
    let recorder = [BuildProducts.leaktrace, "record", "--quiet", "-o", "%DIRECTORY%/%p.trace"]
    let waiting = try InspectionTests.Waiting(
      program, ["blocked"], under: recorder + (way == "light" ? ["--light"] : []) + ["--"])
    defer { _ = try? waiting.end(SIGKILL) }
    let trace = try AwaitedState.value("the trace has two whole images") {
      waiting.trace().flatMap { path in
        (try? TraceReader(path: path))?.snapshots.count(where: \.isWhole) == 2 ? path : nil
      }
    }
    let found = try Self.actors(trace)
    let actor = try #require(found.actors.first)
    #expect(actor.type == "Printer" && actor.queue.count == 50 && actor.grows)
    #expect(actor.earlier?.count == 20 && actor.earlier?.left == 0)
    let thread = try found.threads[#require(actor.thread)]
    #expect(thread.blockedIn == "semaphore" && thread.functions.contains { $0.function.contains("printPage") })
    let text = try Command([BuildProducts.leaktrace, "tasks", trace]).run().output
      .split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(text.contains("GROWING QUEUE 50 tasks wait for a turn on Printer"), "\(text)")
    #expect(text.contains("30 more than") && text.contains("none of the earlier ones has had its turn"), "\(text)")
    // One image shows the length, and no growth.
    let first = try Self.actors(trace, ["--snapshot", "1"])
    #expect(first.actors.first?.queue.count == 20 && first.actors.first?.grows == false)
  }

  @Test("Two inspections tell a queue that only grows from one that is worked off", arguments: ["blocked", "busy"])
  func queueOfProcess(way: String) throws {
    let program = TestProgram(named: "actor-queues", sources: ["actor-queues.swift"], flags: ["-parse-as-library"])
    let waiting = try InspectionTests.Waiting(program, [way])
    defer { _ = try? waiting.end(SIGKILL) }
    // In a second, fifty tasks come to the queue of the blocked actor.
    let found = try Self.actors("\(waiting.processID)", ["--again", "1s"])
    if way == "blocked" {
      let actor = try #require(found.actors.first)
      #expect(actor.type == "Printer" && actor.grows && actor.earlier?.left == 0)
    } else {
      #expect(found.actors.allSatisfy { !$0.grows }, "\(found.actors)")
    }
  }
}
