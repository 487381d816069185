// Programs under other checkers behave as they do without the recorder.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct CheckerTests {
  /// Removes addresses, and the checker's lines about frames between the program and the allocator.
  private static func comparable(_ text: String) -> String {
    text.split(separator: "\n").filter { !$0.hasPrefix("    #") }.map { line in
      line.replacing(/==[0-9]+==/, with: "").replacing(/0x[0-9a-f]+/, with: "")
    }.joined(separator: "\n")
  }

  @Test("A leak sanitizer prints the same output as untraced", .requires(.program("gcc")))
  func leakSanitizer() throws {
    let directory = try TemporaryDirectory()
    let program = directory.path + "/forgets-one"
    let source = BuildProducts.packageRoot + "/Tests/Programs/forgets-one.c"
    let built = try Command(["gcc", "-g", "-fsanitize=leak", source, "-o", program]).run()
    try #require(built.end == .exit(0), "\(built.errorOutput)")
    let run = try TracedRun([program])
    #expect(run.traced.errorOutput.contains("LeakSanitizer: 20 byte(s) leaked"))
    run.expectSameBehaviour(normalising: Self.comparable)
  }

  @Test(
    "A sanitizer that must load first is refused, or runs untraced as a child",
    .requires(.program("gcc")))
  func addressSanitizer() throws {
    let directory = try TemporaryDirectory()
    let program = directory.path + "/print-environment"
    let source = BuildProducts.packageRoot + "/Tests/Programs/print-environment.c"
    let built = try Command(["gcc", "-g", "-fsanitize=address", source, "-o", program]).run()
    try #require(built.end == .exit(0), "\(built.errorOutput)")
    let refused = try Command([BuildProducts.leaktrace, "record", program]).run()
    #expect(refused.end != .exit(0) && refused.errorOutput.contains("libasan"))
    for options in [[], ["--follow-children"]] {
      try TracedRun(["/usr/bin/env", "A=1", program], options: options).expectSameBehaviour()
      try TracedRun(["/bin/sh", "-c", "\(program); exit 3"], options: options).expectSameBehaviour(normalising: {
        text in
        text.split(separator: "\n").filter { !$0.hasPrefix("LEAKTRACE_") && !$0.hasPrefix("LD_PRELOAD=") }.joined(
          separator: "\n")
      })
    }
  }

  @Test("Valgrind reads the library's debug information", .requires(.program("valgrind"))) func valgrind() throws {
    let directory = try TemporaryDirectory()
    var command = Command([
      "valgrind", "--tool=memcheck", "--quiet", "--error-exitcode=9",
      try TestProgram("print-environment.c").strippedPath(),
    ])
    command.environment["LD_PRELOAD"] = BuildProducts.preloadLibrary
    command.environment["LEAKTRACE_OUTPUT"] = directory.path + "/t.trace"
    let outcome = try command.run()
    #expect(outcome.end == .exit(0))
    #expect(outcome.errorOutput == "")
  }
}
