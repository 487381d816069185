// The stacks of the threads of an inspected process.

import Foundation
import ProcessInspection
import TestRequirements
import Testing
import TraceReading

@Suite(.requires(.command)) struct ThreadStackTests {
  /// Returns the thread stacks in the JSON report.
  private static func stacks(_ arguments: [String]) throws -> [[String: Any]] {
    let outcome = try Command([BuildProducts.leaktrace] + arguments + ["--format", "json"]).run()
    try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
    let document = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    let report = try #require((document["reports"] as? [[String: Any]])?.first)
    return try #require(report["threadStacks"] as? [[String: Any]])
  }

  /// Returns the program's own functions in a stack, innermost first, without repetitions, and then how the stack ends.
  private static func functions(_ stack: [String: Any]) -> [String] {
    var names: [String] = []
    for frame in stack["frames"] as? [[String: Any]] ?? [] where frame["kind"] as? String == "user" {
      let name = frame["function"] as? String ?? ""
      if names.last != name, !name.hasPrefix("closure") { names.append(name) }
    }
    return names + [stack["stackEnd"] as? String ?? ""]
  }

  private static let expected: [String: [String]] = [
    "in-call": ["waitHolding(_:)", "standInCall()", "complete"],
    "deep": ["waitHolding(_:)", "recurse(_:)", "cut"],
    "computing": ["compute()", "complete"],
    "interrupted": ["waitHolding(_:)", "standInHandler()", "interrupted()", "complete"],
    "made-code": ["waitHolding(_:)", "standBehindMadeCode()", "0x", "noRules"],
  ]

  private static func check(_ stacks: [[String: Any]], hasNames: Bool = true) {
    #expect(stacks.count == 6 && stacks[0]["isMain"] as? Bool == true && functions(stacks[0]).last == "complete")
    var found: [[String]] = []
    for stack in stacks.dropFirst() {
      var functions = functions(stack)
      // An address is shown for code that was generated at run time.
      functions = functions.map { $0.hasPrefix("0x") ? "0x" : $0 }
      found.append(functions)
      guard hasNames, let name = stack["name"] as? String else { continue }
      #expect(functions == expected[name], "\(name)")
      #expect(stack["activity"] as? String == (name == "computing" ? "computing" : "systemCall"))
    }
    #expect(Set(found) == Set(expected.values))
  }

  @Test("The copy, the held process and its core show each thread's current function", .requires(.debugger))
  func stacks() throws {
    let program = try InspectionTests.Waiting(TestProgram("standing-threads.swift", flags: ["-Onone"]))
    let number = String(program.processID)
    Self.check(try Self.stacks(["inspect", number]))
    Self.check(try Self.stacks(["inspect", number, "--hold"]))
    let core = program.directory.path + "/core"
    _ = try Command(["gdb", "-nx", "-batch", "-p", number, "-ex", "gcore \(core)"]).run()
    Self.check(try Self.stacks(["inspect", core]), hasNames: false)
    let kept = program.directory.path + "/kept"
    let outcome = try Command([BuildProducts.leaktrace, "inspect", number, "-o", kept]).run()
    #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
    for words in [
      "Threads: 6", "\"in-call\"", "standInCall()", "… the stack goes on", "has no rules for unwinding", "computing",
    ] {
      #expect(outcome.output.contains(words), "\(words)")
    }
    _ = try program.end(SIGKILL)
    Self.check(try Self.stacks(["analyze", kept]))
    // If only a stack holds an object, the answer names the thread and the function.
    let answer = try Command([BuildProducts.leaktrace, "why", kept, "Held", "--width", "200"]).run()
    #expect(answer.end == .exit(0), "\(answer.errorOutput)")
    #expect(answer.output.contains("\", in waitHolding(_:) at standing-threads.swift:"), "\(answer.output)")
  }
}
