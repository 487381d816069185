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
    let trace = try Self.run(way, []).onlyTrace()
    #expect(trace.state == .closed(.exit))
    #expect(trace.untracedChildren >= 1)
    #expect(try TraceContents(trace.path).orphans == 0)
  }

  @Test("Followed children leave traces of their own", arguments: [
    ("fork", 2), ("fork-exec", 3), ("vfork", 2), ("vfork-fails", 1), ("spawn", 2), ("many-forks", 51), ("fork-threads", 31),
    ("grandchildren", 4),
  ])
  func followed(way: String, count: Int) throws {
    let run = try Self.run(way, ["--follow-children"])
    let files = try run.directory.fileNames()
    #expect(run.traces.count == count, "\(files)")
    for trace in run.traces {
      guard case .closed = trace.state else {
        Issue.record("\(trace.path) is \(trace.state)")
        continue
      }
      let contents = try TraceContents(trace.path)
      #expect(contents.eventCount == trace.eventCount)
      // A forked child frees blocks of its parent's; its trace says that it began as a fork.
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
