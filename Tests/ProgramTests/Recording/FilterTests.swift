// Programs that limit their own system calls by filters run as they do untraced. Recording stops if it would make such
// a program fail.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct FilterTests {
  private static func run(_ situation: String, _ options: [String] = []) throws -> TracedRun {
    let run = try TracedRun([try TestProgram("situations-filters.c").path(), situation], options: options)
    #expect(run.traced == run.untraced)
    #expect(run.untraced.end != .exit(99), "\(run.untraced.errorOutput)")
    return run
  }

  @Test(
    "Recording stops with one message before a filter that forbids it applies",
    arguments: [
      "filter_kills", "filter_kills_exit", "filter_traps", "filter_errors", "filter_by_system_call",
      "filter_then_threads", "filter_over_threads",
      "filter_on_one_thread", "filter_twice", "filter_then_fork", "filter_then_exec", "strict_mode", "calls_dispatched",
    ], TestTier.arguments([[]], of: [[], ["--follow-children"]]))
  func stops(situation: String, options: [String]) throws {
    let run = try Self.run(situation, options)
    #expect(run.recorderLines.count { $0.contains("recording stops here") } == 1)
    let trace = try #require(run.traces.first)
    #expect(trace.state == .stopped(EPERM))
    let contents = try TraceContents(trace.path)
    #expect(contents.eventCount == trace.eventCount)
    if situation == "filter_kills" { #expect(contents.count("malloc") >= 100) }
  }

  @Test("A child that restricts itself runs its program untraced", arguments: [[], ["--follow-children"]])
  func child(options: [String]) throws {
    let run = try Self.run("filter_in_child", options)
    #expect(try #require(run.traces.first).state == .closed(.exit))
  }

  @Test(
    "Recording continues under a filter that allows it",
    arguments: ["filter_denies_tracing", "filter_denies_nothing_needed", "filter_refused"])
  func goesOn(situation: String) throws {
    let run = try Self.run(situation)
    #expect(run.recorderLines == [])
    let trace = try run.onlyTrace()
    #expect(trace.state == .closed(.exit))
    #expect(try TraceContents(trace.path).count("malloc") >= 200_000)
  }

  @Test("Recording continues without heap images under a filter that forbids them") func noImages() throws {
    let run = try Self.run("filter_denies_waiting")
    #expect(run.recorderLines.count == 1)
    #expect(run.recorderLines.first?.contains("no heap images from here on") == true)
    #expect(try run.onlyTrace().state == .closed(.exit))
  }
}
