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
    _ children: String, _ recorder: Recorder, in directory: String, command: String? = nil, isOptimised: Bool = true,
    under outer: [String] = [], variables: [String: String] = [:]
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
    var run = Command(outer + prefix + [program, directory, children])
    run.environment.merge(variables) { $1 }
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

  /// The first lines of a program that has listed its tasks.
  private static let listed =
    "tasks.json tasks.pb.gz taskleak.pb.gz\nothers went on\n2 at the same time\n0 signals, 0 reaped\n"

  @Test("The command has no descriptor of the program", arguments: [true, false])
  func descriptors(closesRanges: Bool) throws {
    let directory = try TemporaryDirectory()
    let command = directory.path + "/command"
    // A filter hides the system call. leaktrace cannot inspect a process under a filter of its own, so another command
    // answers then.
    try """
    #!/bin/bash
    [ -e /proc/self/fd/7 ] && echo inherited >> \(directory.path)/descriptors
    echo called >> \(directory.path)/descriptors
    \(closesRanges ? "exec \(BuildProducts.leaktrace) \"$@\"" : "echo tasks")

    """.write(toFile: command, atomically: true, encoding: .utf8)
    chmod(command, 0o755)
    let kernel = closesRanges ? [] : [try TestProgram("hides-calls.c").path(), "close-range"]
    let outcome = try Self.run(
      "handled", .none, in: directory.path, command: command,
      under: kernel + ["/bin/sh", "-c", "exec 7</dev/null; exec \"$0\" \"$@\""])
    #expect(outcome.output.hasPrefix(Self.listed) && outcome.end == .exit(0), "\(outcome)")
    if closesRanges { try check(directory.path) }
    let calls = try String(contentsOfFile: directory.path + "/descriptors", encoding: .utf8).split(separator: "\n")
    #expect(calls.count == 6 && Set(calls) == ["called"], "\(calls)")
  }

  @Test("Where only parents may trace, the program lets its descendants trace it for the time of the call")
  func restrictedTracing() throws {
    let directory = try TemporaryDirectory()
    let library = try TestProgram("restricts-tracing.c", flags: ["-shared", "-fPIC"]).path()
    let outcome = try Self.run(
      "ignored", .none, in: directory.path,
      variables: ["LD_PRELOAD": library, "TRACERS": directory.path + "/tracers"])
    #expect(outcome.output == Self.listed && outcome.end == .exit(0), "\(outcome)")
    try check(directory.path)
    let tracers = try String(contentsOfFile: directory.path + "/tracers", encoding: .utf8).split(separator: "\n")
    // Three calls, two at the same time, and one in a child, which the program does not wait for.
    #expect(tracers.count >= 10, "\(tracers)")
    for index in stride(from: 0, to: 10, by: 2) { #expect(tracers[index..<index + 2] == ["descendants", "nobody"]) }
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
