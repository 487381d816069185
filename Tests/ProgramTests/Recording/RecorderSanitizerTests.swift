// Runs the recorder's tests in C (Tests/Recorder) under sanitizers.

import Foundation
import TestRequirements
import Testing

@Suite(.secondTier, .serialized) struct RecorderSanitizerTests {
  @Test("The recorder's parts pass their tests under sanitizers", arguments: ["address", "thread"]) func sanitized(
    sanitizer: String
  ) throws {
    let command = Command([BuildProducts.packageRoot + "/scripts/sanitize", sanitizer])
    let outcome = try command.run()
    #expect(outcome.end == .exit(0), "\(outcome.output)\(outcome.errorOutput)")
    #expect(outcome.output.contains(" passed, 0 failed"))
  }
}
