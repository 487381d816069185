// Child processes behave as they do without the recorder. They are traced if requested, whatever call starts them.

import TestRequirements
import Testing
import TraceReading

@Suite(.requires(.recorder)) struct ChildProcessTests {
  static let ways = [
    "fork", "fork-exec", "vfork", "vfork-fails", "spawn", "spawn-clean", "system", "popen", "many-forks",
    "fork-threads",
    "grandchildren",
  ]

  static func run(_ way: String, _ options: [String]) throws -> TracedRun {
    let run = try TracedRun([try TestProgram("children.c").path(), way], options: options)
    run.expectSameBehaviour()
    return run
  }

  @Test("Children that are not followed are counted in a single trace", arguments: ways)
  func notFollowed(way: String) throws {
    let run = try Self.run(way, [])
    let trace = try run.onlyTrace()
    defer { withExtendedLifetime(run) {} }
    #expect(trace.state == .closed(.exit))
    #expect(trace.untracedChildren >= 1)
    #expect(try TraceContents(trace.path).orphans == 0)
  }

  @Test(
    "Followed children leave traces of their own",
    arguments: [
      ("fork", 2, 0), ("fork-exec", 1, 1), ("vfork", 1, 1), ("vfork-fails", 1, 0), ("spawn", 1, 1),
      ("spawn-clean", 1, 1),
      ("many-forks", 51, 0),
      ("fork-threads", 31, 0), ("grandchildren", 2, 1),
    ])
  func followed(way: String, ownTraces: Int, echoTraces: Int) throws {
    let run = try Self.run(way, ["--follow-children"])
    let files = try run.directory.fileNames()
    // A child that exists only between fork and exec leaves a trace, or none if it recorded nothing.
    #expect(files.count { $0.hasPrefix("children.") } >= ownTraces, "\(files)")
    #expect(files.count { $0.hasPrefix("echo.") } == echoTraces, "\(files)")
    for trace in run.traces {
      guard case .closed = trace.state else {
        Issue.record("\(trace.path) is \(trace.state)")
        continue
      }
      let contents = try TraceContents(trace.path)
      #expect(contents.eventCount == trace.eventCount)
      // A forked child frees a block of its parent, which counts as an orphan here. The child's trace says that it
      // began as a fork.
      if way != "fork" { #expect(contents.orphans == 0) }
    }
    #expect(run.traces.first?.untracedChildren == 0)
  }

  @Test("A shell's children are followed", arguments: ["system", "popen"]) func shell(way: String) throws {
    let run = try Self.run(way, ["--follow-children"])
    #expect(run.traces.count >= 2)
    #expect(run.traces.allSatisfy { $0.state != .open })
  }

  @Test(
    "Followed vfork children that run programs leave their parent's memory unchanged",
    arguments: ["vfork_exec_many", "vfork_exec_threads"])
  func vforkMemory(situation: String) throws {
    let run = try TracedRun(
      [try TestProgram("situations-processes.c").path(), situation], options: ["--follow-children"])
    run.expectSameBehaviour()
    #expect(run.untraced.output == "grew: 0\n")
  }

  @Test("A vfork child that allocates first does not end its parent's recording") func vforkAllocatesFirst()
    throws
  {
    let run = try TracedRun([try TestProgram("situations-processes.c").path(), "vfork_first_allocation"])
    run.expectSameBehaviour()
    #expect(try TraceContents(try run.onlyTrace().path).count("malloc") >= 1000)
  }

  @Test(
    "The first process of a PID namespace is not confused with process 1 outside",
    arguments: ["raw_clone_namespace", "first_process"])
  func sameNumber(situation: String) throws {
    let run = try TracedRun(
      [try TestProgram("situations-namespaces.c").path(), situation], options: ["--follow-children"])
    #expect(run.traced == run.untraced)
  }

  @Test(
    "Processes in a PID namespace for children take no heap image",
    arguments: ["pid_namespace", "pid_namespace_alive", "pid_namespace_threads"])
  func namespaceOfChildren(situation: String) throws {
    let run = try TracedRun([try TestProgram("situations-namespaces.c").path(), situation])
    #expect(run.traced == run.untraced)
    guard run.untraced.output != "not allowed\n" else { return }
    #expect(run.recorderLines.contains { $0.contains("PID namespace of the program's children") })
    #expect(try run.onlyTrace().state == .closed(.exit))
  }

  @Test(
    "A static program that replaces the traced one sees no variable of the recorder", arguments: [["-static"], []])
  func replacedByStatic(flags: [String]) throws {
    let run = try TracedRun(["/usr/bin/env", "A=1", try TestProgram("print-environment.c", flags: flags).path()])
    run.expectSameBehaviour()
    #expect(run.traces.allSatisfy { if case .closed = $0.state { true } else { false } })
  }

  @Test("A static program keeps the recorder's variables for its followed children") func followedThroughStatic()
    throws
  {
    let run = try TracedRun(
      ["/usr/bin/env", "A=1", try TestProgram("print-environment.c", flags: ["-static"]).path()],
      options: ["--follow-children"])
    #expect(run.traced.output.contains("LD_PRELOAD="))
    #expect(run.traced.output.contains("LEAKTRACE_FOLLOW=1"))
  }
}
