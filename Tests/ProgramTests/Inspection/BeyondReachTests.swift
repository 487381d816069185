// Objects whose tasks, timers and observers no code can end, found in one image.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.command)) struct BeyondReachTests {
  /// The number of objects, by type.
  private typealias Found = [String: Int]

  private static let expected: Found = [
    "Poller": 9, "OwningPoller": 9, "Meter": 12, "Clock": 12, "Listener": 12, "Receipt": 60,
  ]
  private static let optimisations = TestTier.arguments(["-O"], of: ["-O", "-Onone"])

  /// Returns the suspicions that a report lists. Each one says that no other code can end what keeps the objects.
  private func suspicions(_ outcome: Command.Outcome) throws -> Found {
    try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
    let report = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    let only = try #require((report["reports"] as? [[String: Any]])?.first)
    var found: Found = [:]
    for finding in try #require(only["findings"] as? [[String: Any]]) where finding["library"] as? Bool == false {
      guard finding["strength"] as? String == "strong" else { continue }
      let outliving = try #require(finding["outliving"] as? [String: Any])
      #expect(outliving["beyondReach"] as? Bool == true, "\(finding["title"] ?? "")")
      let title = (finding["title"] as? String)?.split(separator: " ").first.map(String.init) ?? ""
      found[title, default: 0] += finding["instances"] as? Int ?? 0
    }
    return found
  }

  @Test(
    "An inspection reports objects that no code can release, but none with handles",
    arguments: optimisations)
  func inspected(optimisation: String) throws {
    let waiting = try InspectionTests.Waiting(TestProgram("beyond-reach.swift", flags: ["-g", optimisation]))
    let outcome = try Command([BuildProducts.leaktrace, "inspect", "\(waiting.processID)", "--format", "json"]).run()
    _ = try waiting.end(SIGKILL)
    #expect(try suspicions(outcome) == Self.expected, "\(outcome.output)")
  }

  @Test("A light recording reports the same objects", .secondTier, arguments: optimisations)
  func light(optimisation: String) throws {
    let waiting = try InspectionTests.Waiting(
      TestProgram("beyond-reach.swift", flags: ["-g", optimisation]),
      under: [BuildProducts.leaktrace, "record", "--quiet", "--light", "-o", "%DIRECTORY%/t%p.trace", "--"])
    #expect(try Command([BuildProducts.leaktrace, "snapshot", "\(waiting.processID)"]).run().end == .exit(0))
    _ = try waiting.end(SIGKILL)
    let trace = try #require(waiting.trace())
    let outcome = try Command([BuildProducts.leaktrace, "analyze", trace, "--format", "json"]).run()
    #expect(try suspicions(outcome) == Self.expected, "\(outcome.output)")
  }

  @Test("An image that is requested while a recording begins has the objects from before", .secondTier)
  func requestedEarly() throws {
    let waiting = try InspectionTests.Waiting(TestProgram("beyond-reach.swift", flags: ["-g", "-O"]))
    let (process, trace) = ("\(waiting.processID)", waiting.directory.path + "/early")
    let attaching = try Command([BuildProducts.leaktrace, "attach", process, "-o", trace]).start()
    // There is nothing to ask before the recorder is in the process.
    var tries = 0
    while try Command([BuildProducts.leaktrace, "snapshot", process]).run().end != .exit(0), tries < 1000 { tries += 1 }
    #expect(tries < 1000)
    #expect(try attaching.wait().end == .exit(0))
    _ = try waiting.end(SIGKILL)
    let outcome = try Command([BuildProducts.leaktrace, "analyze", trace, "--format", "json"]).run()
    let found = try suspicions(outcome)
    #expect(found == Self.expected)
  }

  @Test("An attached recording and a core file report the same objects", .secondTier)
  func attachedAndCore() throws {
    let waiting = try InspectionTests.Waiting(TestProgram("beyond-reach.swift", flags: ["-g", "-O"]))
    let (process, directory) = ("\(waiting.processID)", waiting.directory.path)
    let core = try Command(["gcore", "-o", directory + "/core", process]).run()
    try #require(core.end == .exit(0), "\(core.errorOutput)")
    for command in [["attach", process, "-o", directory + "/joined"], ["snapshot", process], ["detach", process]] {
      #expect(try Command([BuildProducts.leaktrace] + command).run().end == .exit(0))
    }
    _ = try waiting.end(SIGKILL)
    for command in [["analyze", directory + "/joined"], ["inspect", directory + "/core.\(process)"]] {
      let outcome = try Command([BuildProducts.leaktrace] + command + ["--format", "json"]).run()
      let found = try suspicions(outcome)
      #expect(found == Self.expected, "\(command)")
    }
  }
}
