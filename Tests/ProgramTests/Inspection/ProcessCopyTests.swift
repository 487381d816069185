// A process that is stopped and copied runs on as if nothing had happened.

import Foundation
import TestRequirements
import Testing

@Suite struct ProcessCopyTests {
  /// Whether the long test was requested: 200 copies, 50 killed inspectors, and 12 other processes that compute.
  private static let isLong = ProcessInfo.processInfo.environment["LEAKTRACE_LONG_COPIES"] != nil

  /// The numbers of copies, of killed inspectors, and of other processes that compute.
  private static let counts =
    isLong ? ["200", "50", "12"] : TestTier.arguments(["4", "1", "0"], of: ["20", "5", "2"])

  @Test func copiesDisturbNoThread() throws {
    let calls = "../../Sources/CProcessCalls"
    let files = [
      "process_copy.c", "copy_guardian.c", "stopped_process.c", "stopped_thread.c", "lone_call.c", "listed_threads.c",
      "exit_call.c", "guardian.c", "processor/x86_64/registers.c", "processor/aarch64/registers.c",
    ]
    let program = TestProgram(
      named: "process-copies", sources: ["process-copies.c"] + files.map { "\(calls)/\($0)" },
      flags: [
        "-I\(BuildProducts.packageRoot)/Sources/CProcessCalls",
        "-I\(BuildProducts.packageRoot)/Sources/CProcessCalls/include",
      ])
    let outcome = try Command([try program.path()] + Self.counts).run()
    #expect(outcome.output == "")
    #expect(outcome.end == .exit(0))
  }
}
