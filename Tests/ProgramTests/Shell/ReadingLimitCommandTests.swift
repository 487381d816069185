// Commands on traces that are large, or that a stranger may have made.

import Foundation
import TestRequirements
import Testing
import TraceTestSupport

@testable import TraceReading

@Suite(.requires(.command)) struct ReadingLimitCommandTests {
  /// A trace with a quarter of a million allocation sites and six million events, in less than a megabyte.
  private struct ManySites {
    let directory: TemporaryDirectory
    var path: String { directory.path + "/many-sites.trace" }

    init() throws {
      directory = try TemporaryDirectory()
      let stacks = StackTree()
      let encoder = EventEncoder(stacks: stacks)
      encoder.begin(firstTime: 0)
      for index in 0..<250_000 as Range<UInt64> {
        let stack = stacks.stack([0x1000, 0x2000 + index * 16])
        encoder.append(TraceEvent(operation: .malloc, address: 0x5000_0000, size: 16, stack: stack))
        encoder.append(TraceEvent(operation: .free, address: 0x5000_0000))
      }
      var writer = TraceWriter()
      for _ in 0..<12 { try writer.append(encoder, thread: 1, firstTime: 0) }
      try writer.append(TraceClosing())
      try Data(writer.bytes).write(to: URL(fileURLWithPath: path))
    }
  }

  private static let trace = Result { try ManySites() }

  private func analysis(_ options: [String] = []) throws -> Command {
    Command([BuildProducts.leaktrace, "analyze", try Self.trace.get().path] + options)
  }

  @Test func wellCompressedTraceIsReadInFull() throws {
    let outcome = try analysis().run()
    #expect(outcome.end == .exit(0) && !outcome.output.contains("damage"))
    #expect(outcome.output.contains("6,000,000 events"))
  }

  @Test func untrustedTraceIsRefusedInPart() throws {
    let outcome = try analysis(["--untrusted", "--width", "400"]).run()
    #expect(outcome.end == .exit(6))
    #expect(outcome.output.contains("refused: ") && outcome.output.contains("for a stranger's file of this size"))
  }

  @Test func readingStopsAtTheMemoryLimit() throws {
    let outcome = try analysis(["--memory-limit", "64MiB", "--width", "400"]).run()
    #expect(outcome.end == .exit(4))
    #expect(outcome.output.contains("incomplete: reading stopped at the memory limit of 64.0 MiB, after "))
    #expect(outcome.output.contains("Raise --memory-limit") && outcome.output.contains("where reading stopped:"))
  }

  @Test func interruptEndsTheReadingWithAReport() throws {
    // The thread that decodes runs only while the events are read. The command may end its reading first.
    for _ in 0..<20 {
      let running = try analysis(["--width", "400"]).start()
      let tasks = "/proc/\(running.processID)/task"
      for _ in 0..<10_000 {
        if ((try? FileManager.default.contentsOfDirectory(atPath: tasks).count) ?? 0) > 1 { break }
        usleep(1000)
      }
      running.send(SIGINT)
      let outcome = try running.wait()
      guard outcome.end == .exit(4) else { continue }
      #expect(outcome.output.contains("incomplete: reading was interrupted after "))
      #expect(outcome.output.contains("of 6,000,000 events"))
      return
    }
    Issue.record("no reading was interrupted")
  }
}
