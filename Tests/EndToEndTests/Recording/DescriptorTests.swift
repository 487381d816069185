// The recorder has no descriptor that a program could see, take or run out of.

import Foundation
import TestRequirements
import Testing
import TraceReading

@Suite(.requires(.recorder)) struct DescriptorTests {
  @Test(
    "A program takes every number there is: its own file stays as it was, and nothing is lost",
    arguments: TestTier.arguments(["exhausted"], of: ["storm", "exhausted"]))
  func taken(way: String) throws {
    let directory = try TemporaryDirectory()
    let contents = try SurvivalTests.expectSurvival([
      try TestProgram("descriptor-storm.c", flags: ["-pthread"]).path(), way, directory.path + "/own",
    ])
    #expect(contents.count("malloc") >= 450_000)
  }

  @Test("A program that gives up its root and its user is recorded to its end", .enabled(if: getuid() == 0))
  func confined() throws {
    let directory = try TemporaryDirectory()
    let contents = try SurvivalTests.expectSurvival([
      try TestProgram("descriptor-storm.c", flags: ["-pthread"]).path(), "confined", directory.path + "/own",
    ])
    #expect(contents.count("malloc") >= 450_000)
  }
}
