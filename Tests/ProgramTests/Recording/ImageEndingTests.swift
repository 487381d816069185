// Processes that end while they take heap images.

import Foundation
import TestRequirements
import Testing
import TraceReading

@Suite(.requires(.recorder)) struct ImageEndingTests {
  /// The signal's handler interrupts the thread that takes the image. A handler that waited for that thread would wait
  /// for minutes. Several attempts are needed to hit the right moment.
  @Test("A terminating signal does not wait for an image in progress", arguments: 1...24)
  func interrupted(images: Int) throws {
    let directory = try TemporaryDirectory()
    let trace = directory.path + "/a.trace"
    let command = Command([
      BuildProducts.leaktrace, "record", "--quiet", "-o", trace, "--", try TestProgram("ended-imaging.c").path(),
      "\(images)",
    ])
    #expect(try command.run().end == .signal(SIGTERM))
    let snapshots = try TraceReader(path: trace).snapshots
    #expect(snapshots.count > images && snapshots.last?.reason == .signal && snapshots.allSatisfy(\.isWhole))
  }
}
