// The listing of recorded processes, and the listing of the images in their traces.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct ProcessListingTests {
  private func leaktrace(_ arguments: String...) throws -> Command.Outcome {
    try Command([BuildProducts.leaktrace] + arguments).run()
  }

  private func listed(_ processID: Int32) throws -> [String: Any]? {
    let outcome = try leaktrace("ps", "--format", "json")
    #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
    let document = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    return (document["processes"] as? [[String: Any]])?.first { $0["processID"] as? Int == Int(processID) }
  }

  @Test(
    "A recorded process is listed with its trace and state until it ends, and its images in order"
  ) func listing() throws {
    let waiting = try SnapshotRequestTests.Waiting("pause")
    let process = try #require(try listed(waiting.processID))
    let trace = try #require(process["trace"] as? String)
    #expect(trace.hasPrefix(waiting.directory.path + "/traces/a"))
    #expect(
      (process["program"] as? String)?.hasSuffix("snapshot-heap") == true && process["isPaused"] as? Bool == false)
    #expect(
      (process["startSeconds"] as? Double).map { abs(Date().timeIntervalSince1970 - $0) < 600 } == true
        && (process["events"] as? Int ?? 0) > 0)

    #expect(try leaktrace("pause", String(waiting.processID)).end == .exit(0))
    #expect(try listed(waiting.processID)?["isPaused"] as? Bool == true)
    #expect(try leaktrace("ps", "--width", "200").output.contains("\(trace)  (paused)"))
    #expect(try leaktrace("resume", String(waiting.processID)).end == .exit(0))

    #expect(try waiting.ask().end == .exit(0))
    let images = try leaktrace("snapshots", trace)
    #expect(
      images.end == .exit(0) && images.output.hasPrefix("\(trace): 1 heap image"),
      "\(images.output)\(images.errorOutput)")
    #expect(images.output.contains("request"))
    kill(waiting.processID, SIGKILL)
    _ = try waiting.running.wait()
    #expect(try listed(waiting.processID) == nil)
    #expect(try leaktrace("snapshots", waiting.directory.path + "/printed").end == .exit(3))
  }
}
