// The rest of sleeps, names and task-local values of tasks.

import Foundation
import TestRequirements
import Testing
import TraceReading

@Suite(.requires(.command)) struct SleepingTaskTests {
  private struct Document: Decodable {
    struct Frame: Decodable {
      var function: String
      var own: Bool
    }
    struct Key: Decodable, Equatable {
      var variable: String?
      var type: String
    }
    struct Row: Decodable {
      var count: Int
      var wait: String?
      var names: [String]
      var taskLocals: [Key]
      var stack: [Frame]
      var sleepSecondsLeft: [Double]?
    }
    struct Task: Decodable {
      var row: Int
      var name: String?
      var sleepClock: String?
      var sleepDeadlineSeconds: Double?
      var sleepSecondsLeft: Double?
    }
    var rows: [Row]
    var tasks: [Task]

    /// The row of the tasks that are suspended in a function of the program.
    func row(_ function: String) throws -> (row: Row, tasks: [Task]) {
      let index = try #require(rows.firstIndex { $0.stack.first(where: \.own)?.function == function }, "\(rows)")
      return (rows[index], tasks.filter { $0.row == index })
    }
  }

  /// The sleeping functions, with the seconds of their sleeps.
  private static let sleeps: [(function: String, seconds: Double, clock: String, count: Int)] = [
    ("nanoseconds()", 1000, "continuous", 3), ("continuous()", 2000, "continuous", 1),
    ("tolerant()", 3000, "continuous", 1), ("suspending()", 4000, "suspending", 1), ("child()", 5000, "continuous", 1),
  ]

  private static func program(_ level: String) -> TestProgram {
    TestProgram(
      named: "sleeping-tasks", sources: ["sleeping-tasks.swift", "task-support.swift"],
      flags: [level, "-parse-as-library"])
  }

  /// The same program with the runtime of Swift 6.1.2, which has no names of tasks.
  private static func earlierProgram() throws -> TestProgram {
    TestProgram(
      named: "sleeping-tasks", sources: ["sleeping-tasks.swift", "task-support.swift"],
      flags: [
        "-O", "-parse-as-library", "-D", "EARLIER_RUNTIME", "-no-toolchain-stdlib-rpath", "-Xlinker",
        "-rpath=\(try PythonServer.runtime())",
      ])
  }

  private static func list(_ target: String) throws -> Document {
    let outcome = try Command([BuildProducts.leaktrace, "tasks", target, "--format", "json"]).run()
    try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
    return try JSONDecoder().decode(Document.self, from: Data(outcome.output.utf8))
  }

  private static func now(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  @Test(
    "Sleeps end when the program said, and tasks have their names and values",
    arguments: TaskTests.Source.allCases, ["-O", "-Onone"])
  func facts(source: TaskTests.Source, level: String) throws {
    let start = (boot: Self.now(CLOCK_BOOTTIME), monotonic: Self.now(CLOCK_MONOTONIC))
    let (waiting, target) = try TaskTests.waiting(Self.program(level), source)
    defer { _ = try? waiting.end(SIGKILL) }
    let found = try Self.list(target)
    let end = (boot: Self.now(CLOCK_BOOTTIME), monotonic: Self.now(CLOCK_MONOTONIC))
    for sleep in Self.sleeps {
      let (row, tasks) = try found.row(sleep.function)
      #expect(row.wait == "sleep" && row.count == sleep.count && tasks.count == sleep.count, "\(row)")
      for task in tasks {
        #expect(task.sleepClock == sleep.clock, "\(sleep.function)")
        // The program began its sleeps between the two readings of the clocks.
        let began = try #require(task.sleepDeadlineSeconds) - sleep.seconds
        let bounds =
          sleep.clock == "suspending" ? start.monotonic...end.monotonic : start.boot...end.boot
        #expect(bounds.contains(began), "\(sleep.function): \(began) in \(bounds)")
        if source == .core {
          #expect(task.sleepSecondsLeft == nil)
        } else {
          let left = try #require(task.sleepSecondsLeft)
          #expect((sleep.seconds - (end.boot - start.boot)...sleep.seconds).contains(left), "\(sleep.function)")
        }
      }
      #expect(row.sleepSecondsLeft?.first == tasks.compactMap(\.sleepSecondsLeft).min())
    }
    // A sleep that is over leaves no timer.
    let awake = try found.row("awake()")
    #expect(awake.row.wait == "continuation" && awake.tasks.allSatisfy { $0.sleepClock == nil })

    let keys = ["Request.user", "Request.id"].map {
      Document.Key(variable: $0, type: $0 == "Request.id" ? "TaskLocal<Int>" : "TaskLocal<String>")
    }
    #expect(try found.row("continuous()").row.taskLocals == keys)
    #expect(try found.row("child()").row.taskLocals == [keys[1]])
    #expect(try found.row("tolerant()").row.taskLocals.isEmpty)

    // A trace has no text.
    let hasNames = source == .inspected || source == .core
    func names(_ function: String) throws -> [String] { try found.row(function).tasks.compactMap(\.name).sorted() }
    #expect(try names("nanoseconds()") == (hasNames ? (0..<3).map { "upload \($0) of größe.jpg" } : []))
    #expect(try names("continuous()") == (hasNames ? ["eight678"] : []))
    #expect(try names("child()") == (hasNames ? [String(repeating: "x", count: 128)] : []))
    #expect(try names("tolerant()") == [])
    #expect(Set(try found.row("nanoseconds()").row.names) == Set(try names("nanoseconds()")))
  }

  @Test("Sleeps of an earlier runtime end when the program said", arguments: TaskTests.Source.allCases)
  func earlierRuntime(source: TaskTests.Source) throws {
    let start = (boot: Self.now(CLOCK_BOOTTIME), monotonic: Self.now(CLOCK_MONOTONIC))
    let (waiting, target) = try TaskTests.waiting(Self.earlierProgram(), source)
    defer { _ = try? waiting.end(SIGKILL) }
    let found = try Self.list(target)
    let end = (boot: Self.now(CLOCK_BOOTTIME), monotonic: Self.now(CLOCK_MONOTONIC))
    for sleep in Self.sleeps {
      let (row, tasks) = try found.row(sleep.function)
      #expect(row.wait == "sleep" && row.count == sleep.count && tasks.count == sleep.count, "\(row)")
      // Swift 6.1.2 counts the nanoseconds with the other clock.
      let clock = sleep.function == "nanoseconds()" ? "suspending" : sleep.clock
      let bounds = clock == "suspending" ? start.monotonic...end.monotonic : start.boot...end.boot
      for task in tasks {
        #expect(task.sleepClock == clock, "\(sleep.function)")
        let began = try #require(task.sleepDeadlineSeconds, "\(sleep.function)") - sleep.seconds
        #expect(bounds.contains(began), "\(sleep.function): \(began) in \(bounds)")
        #expect((task.sleepSecondsLeft == nil) == (source == .core))
      }
    }
    let awake = try found.row("awake()")
    #expect(awake.row.wait == "continuation" && awake.tasks.allSatisfy { $0.sleepClock == nil })
  }

  /// Packages of distributions remove local symbols. Then most of the runtime's functions have no names.
  @Test("Sleeps are recognised without the local symbols of the runtime") func strippedRuntime() throws {
    let directory = try TemporaryDirectory()
    let libraries = BuildProducts.parent(of: BuildProducts.toolchain) + "/lib/swift/linux"
    let name = "libswift_Concurrency.so"
    let strip = try Command([
      BuildProducts.toolchain + "/llvm-objcopy", "--strip-all", "\(libraries)/\(name)", "\(directory.path)/\(name)",
    ]).run()
    try #require(strip.end == .exit(0), "\(strip.errorOutput)")
    let waiting = try InspectionTests.Waiting(
      Self.program("-O"), under: ["/usr/bin/env", "LD_LIBRARY_PATH=\(directory.path):\(libraries)"])
    defer { _ = try? waiting.end(SIGKILL) }
    let found = try Self.list("\(waiting.processID)")
    for sleep in Self.sleeps {
      let (row, tasks) = try found.row(sleep.function)
      #expect(row.wait == "sleep" && row.count == sleep.count, "\(sleep.function): \(row)")
      #expect(tasks.allSatisfy { $0.sleepClock == sleep.clock && $0.sleepSecondsLeft != nil }, "\(sleep.function)")
    }
    #expect(try found.row("awake()").row.wait == "continuation")
    // The tasks that the runtime makes for sleeps are not the program's.
    #expect(found.tasks.count == 9, "\(found.rows)")
  }

  @Test("The text shows the rest of a sleep, names and variables") func text() throws {
    let (waiting, target) = try TaskTests.waiting(Self.program("-O"), .inspected)
    defer { _ = try? waiting.end(SIGKILL) }
    let outcome = try Command([BuildProducts.leaktrace, "tasks", target]).run()
    let words = outcome.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(words.contains("3 sleeping") && words.contains(/They wake up in 16\.[0-9] min\./), "\(outcome.output)")
    #expect(words.contains("With task-local values of Request.user, Request.id."), "\(outcome.output)")
    #expect(words.contains("Named \u{22}eight678\u{22}."), "\(outcome.output)")
  }

  @Test("An inspection that is kept has no name of a task") func keptInspection() throws {
    let (waiting, target) = try TaskTests.waiting(Self.program("-O"), .inspected)
    defer { _ = try? waiting.end(SIGKILL) }
    let trace = waiting.directory.path + "/kept.trace"
    let outcome = try Command([BuildProducts.leaktrace, "inspect", target, "-o", trace]).run()
    try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
    let found = try Self.list(trace)
    #expect(found.tasks.allSatisfy { $0.name == nil } && found.tasks.contains { $0.sleepSecondsLeft != nil })
  }

  @Test("The database has the tasks of the list", .requires(.program("sqlite3"))) func tables() throws {
    let (waiting, trace) = try TaskTests.waiting(Self.program("-O"), .recorded)
    defer { _ = try? waiting.end(SIGKILL) }
    let found = try Self.list(trace)
    let file = waiting.directory.path + "/tasks.db"
    let export = try Command([BuildProducts.leaktrace, "export", trace, "--format", "sqlite", "-o", file]).run()
    #expect(export.end == .exit(0), "\(export.errorOutput)")
    func ask(_ query: String) throws -> [String] {
      let outcome = try Command(["sqlite3", "-readonly", file, query]).run()
      #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
      return outcome.output.split(separator: "\n").map(String.init)
    }
    #expect(try ask("PRAGMA foreign_key_check") == [])
    #expect(try ask("SELECT count(*), count(sleep_seconds_left) FROM tasks") == ["\(found.tasks.count)|7"])
    #expect(try ask("SELECT tasks FROM task_rows ORDER BY id") == found.rows.map { String($0.count) })
    #expect(
      try ask("SELECT r.id, count(*) FROM tasks t JOIN task_rows r ON r.id = t.row_id GROUP BY r.id ORDER BY r.id")
        == found.rows.enumerated().map { "\($0 + 1)|\($1.count)" })
    #expect(
      try ask("SELECT tasks, wait, resumed_by FROM task_rows WHERE function = 'nanoseconds()'") == ["3|sleep|timer"])
    #expect(
      try ask("SELECT replace(task_locals, char(10), ' ') FROM task_rows WHERE function = 'continuous()'")
        == ["Request.user Request.id"])
    let examples = try DatabaseCommandTests.documentedExamples().filter { $0.contains("task_rows") }
    #expect(examples.count == 1)
    for example in examples.flatMap({ $0.split(separator: ";") }).map(String.init) where example.contains("SELECT") {
      #expect(try !ask(example).isEmpty, "\(example)")
    }
    let query = try Command([
      BuildProducts.leaktrace, "query", trace, "SELECT sum(tasks) AS n FROM task_rows WHERE wait = 'sleep'", "--format",
      "csv",
    ]).run()
    #expect(query.output == "n\n7\n", "\(query.errorOutput)")
  }
}
