// Suggestions for mistyped words.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.command)) struct SuggestionTests {
  private func leaktrace(_ arguments: [String]) throws -> Command.Outcome {
    try Command([BuildProducts.leaktrace] + arguments).run()
  }

  @Test(arguments: [
    (["analyse", "app.trace", "--limit", "3"], "Error: There is no command 'analyse'. Did you mean 'analyze'?\n"),
    (["snap", "1"], "Error: There is no command 'snap'. Did you mean 'snapshot' or 'snapshots'?\n"),
    (["help", "recrod"], "Error: There is no command 'recrod'. Did you mean 'record'?\n"),
    (["valgrind"], "Error: There is no command 'valgrind'.\n"),
    (["analyze", "t", "--limti", "3"], "Error: Unknown option '--limti'. Did you mean '--limit'?\n"),
    (
      ["record", "--ouptut", "x", "ls"],
      "Error: Unknown option '--ouptut'. Did you mean '--output'? If it is the program to run, put '--' before it.\n"
    ),
    (
      ["check", "--fail-onn=leaks", "ls"],
      "Error: Unknown option '--fail-onn=leaks'. Did you mean '--fail-on'? If it is the program to run, put '--' before it.\n"
    ),
    (
      ["record", "--zzz", "ls"], "Error: Unknown option '--zzz'. If it is the program to run, put '--' before it.\n"
    ),
    (
      ["why", "t", "T", "--format", "jsn"],
      "Error: The value 'jsn' is invalid for '--format <format>'. Did you mean 'json'? Please provide one of 'text', 'json', 'dot' or 'brief-json'.\n"
    ),
    (
      ["export", "t", "--format", "SQLITE"],
      "Error: The value 'SQLITE' is invalid for '--format <format>'. Did you mean 'sqlite'? Please provide one of the following:\n"
    ),
    (
      ["analyze", "t", "--sort", "peek"],
      "Error: The value 'peek' is invalid for '--sort <sort>'. Did you mean 'peak'? Please provide one of the following:\n"
    ),
    (
      ["analyze", "t", "--write", "htlm=a b.html"],
      "Error: The value 'htlm=a b.html' is invalid for '--write <format=path>'. Did you mean 'html=a b.html'?\n"
    ),
    (
      ["diff", "a", "b", "--per", "event"],
      "Error: The value 'event' is invalid for '--per <unit>'. Did you mean 'events'?\n"
    ),
    (
      ["record", "--snapshot-signal", "SIGUSR3", "ls"],
      "Error: The value 'SIGUSR3' is invalid for '--snapshot-signal <signal>'. Did you mean 'USR1' or 'USR2'?\n"
    ),
    (
      ["record", "--arc", "everything", "ls"],
      "Error: The value 'everything' is invalid for '--arc <mode>'. Please provide one of 'stacks', 'counts' or 'off'.\n"
    ),
    (
      ["analyze", "t", "--fail-on", "leaks,new-leak"],
      "leaktrace: --fail-on: no condition 'new-leak' for a single build; did you mean 'new-leaks'? Allowed are "
    ),
  ])
  func mistypedCommandsAndOptionsGetSuggestions(arguments: [String], message: String) throws {
    let outcome = try leaktrace(arguments)
    #expect(outcome.end == .exit(64) && outcome.output.isEmpty)
    #expect(outcome.errorOutput.hasPrefix(message), "\(outcome.errorOutput)")
  }

  @Test(.requires(.recorder)) func mistypedNamesInATraceGetSuggestions() throws {
    let feed = try RecordedFeed.shared()
    for (arguments, question) in [
      (["why", feed.trace, "TimelineViewModle"], "in this heap image. Did you mean 'TimelineViewModel'? 'leaktrace"),
      (["why", feed.trace, "timelineviewmodels"], "Did you mean 'TimelineViewModel'?"),
      (["why", "--site", feed.trace, "Navigator.opne"], "Did you mean 'Navigator.open(_:_:)'"),
      (["history", feed.trace, "TimelneViewModel"], ".TimelineViewModel'? 'leaktrace"),
      (["history", "--site", feed.trace, "Navigator.opne"], "Did you mean 'Navigator.open(_:_:)'"),
    ] {
      let outcome = try leaktrace(arguments)
      #expect(outcome.end == .exit(2) && outcome.output.isEmpty)
      #expect(outcome.errorOutput.contains(question), "\(arguments): \(outcome.errorOutput)")
    }
    for subject in ["NothingLikeThat", "*ViewModle", "0x10"] {
      let outcome = try leaktrace(["why", feed.trace, subject])
      #expect(outcome.end == .exit(2) && !outcome.errorOutput.contains("Did you mean"), "\(outcome.errorOutput)")
    }
    for (filter, name, question) in [
      ("--type", "TimelineViewModle", ".TimelineViewModel'?"),
      ("--function", "Navigator.opne", "'Navigator.open(_:_:)'"),
      ("--module", "feed-clinet", "'feed-client'?"),
    ] {
      let outcome = try leaktrace(["analyze", feed.trace, filter, name, "--width", "200"])
      #expect(outcome.end == .exit(0))
      #expect(outcome.output.contains("No allocation site matches. Did you mean '"), "\(outcome.output)")
      #expect(outcome.output.contains(question), "\(outcome.output)")
    }
    let file = try leaktrace([feed.trace])
    #expect(file.end == .exit(64) && file.errorOutput.contains("Did you mean 'leaktrace analyze \(feed.trace)'?"))
  }
}
