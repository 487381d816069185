// Programs that handle the signal that requests their end.

import TestRequirements
import Testing
import TraceReading

@Suite(.requires(.recorder)) struct HandledEndTests {
  @Test("A program sees its own handlers, and they run as without the recorder") func handlers() throws {
    let run = try TracedRun([try TestProgram("handled-signals.c").path()])
    run.expectSameBehaviour()
    #expect(run.untraced.end == .exit(0) && run.untraced.output.contains("plain 1753, detailed 34"))
  }

  @Test(
    "A program that waits for signals receives them as without the recorder",
    arguments: ["sigwait", "sigwaitinfo", "sigtimedwait", "signalfd", "signalfd-waits", "reused"])
  func awaitedSignals(way: String) throws {
    let run = try TracedRun([try TestProgram("awaited-signals.c").path(), way])
    run.expectSameBehaviour()
    #expect(run.untraced.end == .exit(0))
    // The second signal arrives right after the first. Calls that wait for a signal have no hook, so only a read of a
    // signalfd that does not wait leads to an image at the signal.
    let reasons = try TraceReader(path: try #require(run.traces.first).path).snapshots.map(\.reason)
    #expect(reasons == (way == "signalfd" ? [.request, .exit] : [.exit]))
  }

  @Test(
    "A server that releases its state on exit is judged before the release",
    arguments: ["handler", "source", "long-close"])
  func closing(way: String) throws {
    let directory = try TemporaryDirectory()
    let trace = directory.path + "/t"
    let program = try TestProgram("closing-server.swift", flags: ["-O"]).path()
    let recorded = try Command([BuildProducts.leaktrace, "record", "--quiet", "-o", trace, "--", program, way]).run()
    #expect(recorded.end == .exit(0) && recorded.errorOutput.isEmpty, "\(recorded.errorOutput)")
    let findings = try #require(try VerdictReport.read(traces: [trace])[trace]?.findings)
    #expect(findings.map(\.verdict) == ["accumulating"])
    #expect(findings.first?.path.last?.type == "Entry" && findings.first?.instances == 120)
    let text = try Command([BuildProducts.leaktrace, "analyze", trace, "--limit", "1"]).run().output
    let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(
      words.contains("leaks are judged by heap image 1") && words.contains("--snapshot 2 judges the image at the exit"))
    let atExit = try Command([BuildProducts.leaktrace, "analyze", trace, "--snapshot", "2"]).run().output
    #expect(atExit.contains("Leaks: none found"))
  }

  @Test(
    "A program that ends by itself or survives the signal is judged at exit", arguments: ["none", "goes-on"])
  func atExit(way: String) throws {
    let directory = try TemporaryDirectory()
    let trace = directory.path + "/t"
    let program = try TestProgram("closing-server.swift", flags: ["-O"]).path()
    _ = try Command([BuildProducts.leaktrace, "record", "--quiet", "-o", trace, "--", program, way]).run()
    #expect(try #require(try VerdictReport.read(traces: [trace])[trace]?.findings).isEmpty)
  }
}
