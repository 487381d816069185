// The recorder's own code under sanitizers: its tests in C (Tests/Recorder).

import Foundation
import Testing

@Suite(.serialized, .enabled(if: access(BuildProducts.toolchain + "/clang", X_OK) == 0)) struct RecorderSanitizerTests {
  // `scripts/sanitize thread` runs by itself: the kernel says when a thread has ended, which that sanitizer does not know of, and one run in ten or so tells a race that is none.
  @Test("The recorder's parts pass their tests under sanitizers", arguments: ["address"]) func sanitized(sanitizer: String) throws {
    var command = Command([BuildProducts.packageRoot + "/scripts/sanitize", sanitizer])
    command.timeLimit = 600
    let outcome = try command.run()
    #expect(outcome.end == .exit(0), "\(outcome.output)\(outcome.errorOutput)")
    #expect(outcome.output.contains(" passed, 0 failed"))
  }
}
