// The demonstration: a small application with the usual leaks, and the same application without them.

import TestRequirements
import Testing
import TraceReading

@Suite(.requires(.recorder)) struct DemoTests {
  @Test("The feed client behaves the same, and its trace is complete", arguments: ["leaky", "clean"]) func traced(
    variant: String
  ) throws {
    let program = TestProgram(
      named: "feed-client", sources: ["feed-client/shared", "feed-client/\(variant)"], flags: ["-swift-version", "5"])
    let run = try TracedRun([try program.path(), "10"])
    run.expectSameBehaviour()
    let count = variant == "leaky" ? 10 : 0
    for model in ["TimelineViewModel", "PresenceViewModel", "ProfileViewModel", "ConversationViewModel"] {
      #expect(run.traced.output.contains("  \(count) \(model)\n"))
    }
    let trace = try run.onlyTrace()
    #expect(trace.state == .closed(.exit))
    let contents = try TraceContents(trace.path)
    #expect(contents.orphans == 0)
    #expect(contents.eventCount == trace.eventCount)
  }
}
