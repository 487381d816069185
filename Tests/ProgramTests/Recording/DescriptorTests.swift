// The recorder has no descriptor that a program could see or take, and uses none of the program's limit.

import Foundation
import TestRequirements
import Testing
@testable import TraceRecording

@Suite(.requires(.recorder)) struct DescriptorTests {
  @Test(
    "A program that uses every descriptor keeps its own file, and no event is lost",
    arguments: TestTier.arguments(["exhausted"], of: ["storm", "exhausted"]))
  func taken(way: String) throws {
    let directory = try TemporaryDirectory()
    let contents = try SurvivalTests.expectSurvival([
      try TestProgram("descriptor-storm.c", flags: ["-pthread"]).path(), way, directory.path + "/own",
    ])
    #expect(contents.count("malloc") >= 450_000)
  }

  @Test("A program that changes its root and user is recorded to its end", .enabled(if: getuid() == 0))
  func confined() throws {
    let directory = try TemporaryDirectory()
    let contents = try SurvivalTests.expectSurvival([
      try TestProgram("descriptor-storm.c", flags: ["-pthread"]).path(), "confined", directory.path + "/own",
    ])
    #expect(contents.count("malloc") >= 450_000)
  }

  @Test("The trace of a program that changes its user is as long as its data", .enabled(if: getuid() == 0))
  func length() throws {
    let directory = try TemporaryDirectory()
    // The program changes its user. The new user may remove the live file in this directory, but cannot open the old
    // user's files.
    chmod(directory.path, 0o777)
    let program = try TestProgram("descriptor-storm.c", flags: ["-pthread"]).path()
    let outcome = try Command(
      TracedRun.recordArguments(directory) + [program, "confined", directory.path + "/own"]
    ).run()
    #expect(outcome.end == .exit(0))
    let trace = try #require(try TracedRun.traces(in: directory).first)
    let size = try FileManager.default.attributesOfItem(atPath: trace.path)[.size] as? UInt64
    #expect(size == trace.fileSize.rawValue && !trace.hasRoomAhead)
  }
}
