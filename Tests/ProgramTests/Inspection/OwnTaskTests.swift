// Tasks that a program lists of itself, with the library.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.command)) struct OwnTaskTests {
  struct Document: Decodable {
    struct Frame: Decodable {
      var function: String
      var line: Int?
    }
    struct Row: Decodable {
      var count: Int
      var state: String
      var wait: String?
      var resumedBy: String?
      var stack: [Frame]
    }
    var rows: [Row]

    init(path: String) throws {
      self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// Returns the number of waiting tasks whose stack has a function.
    func count(_ function: String) -> Int {
      rows.filter { $0.state == "waiting" && $0.stack.contains { $0.function == function } }.reduce(0) { $0 + $1.count }
    }
  }

  enum Recorder: String, CaseIterable { case none, light, full }

  /// Returns the total of a profile, and the text of `go tool pprof`.
  private static func top(_ file: String) throws -> (total: Int, text: String) {
    let outcome = try Command(["go", "tool", "pprof", "-top", "-nodefraction=0", file]).run()
    try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
    let total = try #require(outcome.output.firstMatch(of: /of ([0-9]+) total/), "\(outcome.output)")
    return (try #require(Int(total.1)), outcome.output)
  }

  private static func run(
    _ children: String, _ recorder: Recorder, in directory: String, command: String? = nil, isOptimised: Bool = true
  ) throws -> Command.Outcome {
    let program = try LeakTraceLibrary.program("own-tasks.swift", isOptimised: isOptimised).path()
    let prefix =
      switch recorder {
      case .none: [String]()
      case .light, .full:
        [BuildProducts.leaktrace, "record", "--quiet"] + (recorder == .light ? ["--light"] : []) + [
          "--no-snapshots", "-o", directory + "/t.trace", "--",
        ]
      }
    var run = Command(prefix + [program, directory, children])
    run.environment["LEAKTRACE_COMMAND"] = command ?? BuildProducts.leaktrace
    return try run.run()
  }

  @Test(
    "A program lists its own tasks and notices nothing",
    arguments: [("plain", true), ("handled", true), ("ignored", true), ("reaped", true), ("plain", false)])
  func unrecorded(children: String, isOptimised: Bool) throws {
    let directory = try TemporaryDirectory()
    let outcome = try Self.run(children, .none, in: directory.path, isOptimised: isOptimised)
    let child = ["plain", "handled"].contains(children) ? "a child has tasks\n" : ""
    #expect(
      outcome.output
        == "tasks.json tasks.pb.gz taskleak.pb.gz\nothers went on\n2 at the same time\n0 signals, 0 reaped\n" + child)
    #expect(outcome.end == .exit(0) && outcome.errorOutput.isEmpty, "\(outcome.errorOutput)")
    try check(directory.path)
  }

  @Test("A recorded program lists its own tasks and notices nothing", arguments: [Recorder.light, .full])
  func recorded(recorder: Recorder) throws {
    let directory = try TemporaryDirectory()
    let outcome = try Self.run("handled", recorder, in: directory.path)
    #expect(
      outcome.output.hasPrefix(
        "tasks.json tasks.pb.gz taskleak.pb.gz\nothers went on\n2 at the same time\n0 signals, 0 reaped\n"),
      "\(outcome.output)")
    #expect(outcome.end == .exit(0) && outcome.errorOutput.isEmpty, "\(outcome.errorOutput)")
    try check(directory.path)
  }

  private func check(_ directory: String) throws {
    let tasks = try Document(path: directory + "/tasks.json")
    let shown = "\(tasks.rows)"
    #expect(tasks.count("Inbox.next()") == 7, "\(shown)")
    #expect(tasks.count("drop()") == 3, "\(shown)")
    #expect(tasks.rows.filter { $0.wait == "sleep" }.map(\.count) == [2], "\(shown)")
    #expect(tasks.rows.filter { $0.resumedBy == "noCode" }.map(\.count) == [3], "\(shown)")
    let all = try Self.top(directory + "/tasks.pb.gz")
    #expect(all.total == tasks.rows.reduce(0) { $0 + $1.count }, "\(all.text)")
    #expect(all.text.contains("Type: tasks") && all.text.contains("File: own-tasks"), "\(all.text)")
    let leaked = try Self.top(directory + "/taskleak.pb.gz")
    #expect(leaked.total == 3 && leaked.text.contains("drop()"), "\(leaked.text)")
  }

  @Test("Without a command there is no list", arguments: ["/nonexistent/leaktrace", "/bin/false", "relative/path"])
  func missing(command: String) throws {
    let directory = try TemporaryDirectory()
    let outcome = try Self.run("handled", .none, in: directory.path, command: command)
    #expect(
      outcome.output
        == "no tasks.json no tasks.pb.gz no taskleak.pb.gz\n0 at the same time\n0 signals, 0 reaped\na child has no tasks\n"
    )
    #expect(outcome.end == .exit(0) && outcome.errorOutput.isEmpty, "\(outcome.errorOutput)")
  }

  // MARK: A server

  /// Returns the body of the server's answer.
  private static func get(_ path: String, port: String, to file: String) throws {
    let outcome = try Command(["curl", "-sSf", "-o", file, "http://127.0.0.1:\(port)/\(path)"]).run()
    try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
  }

  @Test("A server hands out its tasks under load", .secondTier) func server() throws {
    let products = try CorpusPackage.products()
    let directory = try TemporaryDirectory()
    let printed = directory.path + "/printed"
    var command = Command(["/bin/sh", "-c", "exec \"$1\" >\"$0\"", printed, products + "/debug-server"])
    command.environment["LEAKTRACE_COMMAND"] = BuildProducts.leaktrace
    let running = try command.start()
    let port = try AwaitedState.lines(of: printed).dropFirst(5).trimmingCharacters(in: .newlines)
    // The load goes on for as long as the routes are asked.
    let loads = try (0..<3).map { _ in try Command([products + "/load", port, "30000", "16", "orders"]).start() }
    for path in ["debug/tasks", "debug/pprof/tasks", "debug/pprof/taskleak"] {
      try Self.get(path, port: port, to: directory.path + "/" + path.replacingOccurrences(of: "/", with: "-"))
    }
    for load in loads {
      let outcome = try load.wait()
      #expect(outcome.end == .exit(0), "\(outcome.output)\(outcome.errorOutput)")
    }
    try Self.get("counts", port: port, to: directory.path + "/counts")
    let meanwhile = try String(contentsOfFile: directory.path + "/counts", encoding: .utf8)
    #expect(Int(meanwhile) ?? 0 > 100, "\(meanwhile)")
    running.send(SIGTERM)
    let end = try running.wait()
    #expect(end.end == .exit(0), "\(end.errorOutput)")

    let tasks = try Document(path: directory.path + "/debug-tasks")
    #expect(tasks.count("Deliveries.arrival()") == 40, "\(tasks.rows)")
    #expect(tasks.count("waitForLostDelivery()") == 6, "\(tasks.rows)")
    let all = try Self.top(directory.path + "/debug-pprof-tasks")
    #expect(all.total >= 46 && all.text.contains("Deliveries.arrival()"), "\(all.text)")
    let leaked = try Self.top(directory.path + "/debug-pprof-taskleak")
    #expect(leaked.total == 6 && leaked.text.contains("waitForLostDelivery()"), "\(leaked.text)")
  }

  @Test("The page on production shows the server's routes") func page() throws {
    let root = BuildProducts.packageRoot
    let page = try String(contentsOfFile: root + "/docs/production.md", encoding: .utf8)
    let source = try String(
      contentsOfFile: root + "/Tests/Corpus/Packages/Sources/debug-server/TaskRoutes.swift", encoding: .utf8)
    let routes = try #require(source.range(of: "func addTaskRoutes"))
    #expect(page.contains("```swift\n" + source[routes.lowerBound...] + "```\n"))
  }
}
