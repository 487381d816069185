// Recorded tests fail because of their own leaks only.

import Foundation
import TestRequirements
import Testing
import TraceReading

@Suite(.requires(.recorder), .serialized) struct TestTraitTests {
  private func run(_ program: String, traced: Bool, options: [String] = []) throws -> Command.Outcome {
    let directory = try TemporaryDirectory()
    let path = try LeakTraceLibrary.tests(program).path()
    return try Command((traced ? TracedRun.recordArguments(directory, options: options) : []) + [path]).run()
  }

  /// Returns the names that a pattern captures.
  private func names(_ text: String, _ pattern: some RegexComponent<(Substring, Substring)>) -> Set<String> {
    Set(text.matches(of: pattern).map { String($0.output.1) })
  }

  @Test("Only leaking tests fail when recorded") func trait() throws {
    let outcome = try run("leaky-tests.swift", traced: true)
    #expect(outcome.end == .exit(1))
    let output = outcome.output + outcome.errorOutput
    let failed = names(output, /(?:Test|Suite) ([A-Za-z]+)[^ ]* recorded an issue/)
    #expect(failed == ["leaksACycle", "leaksInChildTasks", "leaksMoreThanIsAllowed", "LeakySuite"], "\(output)")
    #expect(output.contains("RETAIN CYCLE  Node"))
    // The test reports its own leak, although the other tests leak the same kind of object.
    #expect(output.contains("closure #1 in SingleTests.leaksInChildTasks()"))
    #expect(!output.contains("were not looked for"))
  }

  @Test("Unrecorded tests do not check for leaks", arguments: ["leaky-tests.swift", "leaky-xctests.swift"])
  func untraced(program: String) throws {
    let outcome = try run(program, traced: false)
    #expect(outcome.end == .exit(0), "\(outcome.output)")
    #expect(!outcome.output.contains("leaked"))
  }

  @Test("Objects that tests leave in a cache fail neither the tests nor the gates") func caches() throws {
    let path = try LeakTraceLibrary.tests("caching-tests.swift").path()
    let outcome = try Command([BuildProducts.leaktrace, "check", "--", path]).run()
    #expect(outcome.end == .exit(0), "\(outcome.output)\(outcome.errorOutput)")
    #expect(
      outcome.output.contains("Leaks: none found") && !outcome.output.contains("Scopes and expectations"),
      "\(outcome.output)")
  }

  @Test("Tests recorded without heap images fail with that reason") func withoutImages() throws {
    let outcome = try run("leaky-xctests.swift", traced: true, options: ["--no-snapshots"])
    #expect(outcome.end == .exit(1))
    #expect((outcome.output + outcome.errorOutput).contains("leaks were not checked: no heap image could be taken"))
  }

  @Test("Tests of XCTest fail for objects made in the assertion, or until the test's end") func assertion() throws {
    let outcome = try run("leaky-xctests.swift", traced: true)
    #expect(outcome.end == .exit(1))
    let failed = names(
      outcome.output + outcome.errorOutput, /error: LeakyTests\.([A-Za-z]+) : failed - leaked: RETAIN CYCLE/)
    #expect(
      failed == ["testLeaks", "testLeaksLater", "testLeaksUntilTheEnd"], "\(outcome.output)\(outcome.errorOutput)")
  }

  @Test("The recorder does not follow the analysis started by a test") func followedChildren() throws {
    let directory = try TemporaryDirectory()
    let path = try LeakTraceLibrary.tests("leaky-xctests.swift").path()
    _ = try Command(TracedRun.recordArguments(directory, options: ["--follow-children"]) + [path]).run()
    #expect(try TracedRun.traces(in: directory).count == 1)
  }
}
