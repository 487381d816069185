// Child processes behave as they would, and are traced if asked for, whatever call started them.

import Testing
import TraceAnalysis

@Suite(.enabled(if: BuildProducts.preloadLibraryExists)) struct ChildProcessTests {
  static let ways = [
    "fork", "fork-exec", "vfork", "vfork-fails", "spawn", "system", "popen", "many-forks", "fork-threads", "grandchildren",
  ]

  static func run(_ way: String, _ options: [String]) throws -> TracedRun {
    let run = try TracedRun([try TestProgram("children.c").path(), way], options: options)
    run.expectSameBehaviour()
    return run
  }

  @Test("Children that are not followed leave one trace, which counts them", arguments: ways)
  func notFollowed(way: String) throws {
    let run = try Self.run(way, [])
    let trace = try run.onlyTrace()
    defer { withExtendedLifetime(run) {} }
    #expect(trace.state == .closed(.exit))
    #expect(trace.untracedChildren >= 1)
    #expect(try TraceContents(trace.path).orphans == 0)
  }

  @Test("Followed children leave traces of their own", arguments: [
    ("fork", 2, 0), ("fork-exec", 1, 1), ("vfork", 1, 1), ("vfork-fails", 1, 0), ("spawn", 1, 1), ("many-forks", 51, 0),
    ("fork-threads", 31, 0), ("grandchildren", 2, 1),
  ])
  func followed(way: String, ownTraces: Int, echoTraces: Int) throws {
    let run = try Self.run(way, ["--follow-children"])
    let files = try run.directory.fileNames()
    // A child that only lived between fork and exec may leave a trace, or none if it recorded nothing.
    #expect(files.count { $0.hasPrefix("children.") } >= ownTraces, "\(files)")
    #expect(files.count { $0.hasPrefix("echo.") } == echoTraces, "\(files)")
    for trace in run.traces {
      guard case .closed = trace.state else {
        Issue.record("\(trace.path) is \(trace.state)")
        continue
      }
      let contents = try TraceContents(trace.path)
      #expect(contents.eventCount == trace.eventCount)
      // A forked child frees a block of its parent's; its trace says that it began as a fork.
      if way != "fork" { #expect(contents.orphans == 0) }
    }
    #expect(run.traces.first?.untracedChildren == 0)
  }

  @Test("A shell's children are followed", arguments: ["system", "popen"]) func shell(way: String) throws {
    let run = try Self.run(way, ["--follow-children"])
    #expect(run.traces.count >= 2)
    #expect(run.traces.allSatisfy { $0.state != .open })
  }
}
