// When the trace cannot be written, the program runs on, and the trace says where it stopped.

import Foundation
import TestRequirements
import Testing
import TraceReading
import TraceRecording

@Suite(.requires(.recorder)) struct FullDiskTests {
  /// Returns a command that records enough varied events to outgrow a small file system.
  private func program() throws -> [String] { [try TestProgram("churn.c").path(), "2000000"] }

  @Test("A full disk stops the recording, not the program", .enabled(if: getuid() == 0)) func fullDisk() throws {
    let directory = try TemporaryDirectory()
    let mountPoint = directory.path + "/small"
    try FileManager.default.createDirectory(atPath: mountPoint, withIntermediateDirectories: false)
    let mounted = try Command(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", mountPoint]).run()
    try #require(mounted.end == .exit(0), "cannot mount here: \(mounted.errorOutput)")
    defer { _ = try? Command(["umount", mountPoint]).run() }

    let untraced = try Command(try program()).run()
    var traced = try Command(
      [BuildProducts.leaktrace, "record", "--quiet", "-o", mountPoint + "/full.trace", "--"] + (try program())
    ).run()
    let lines = TracedRun.separateRecorderLines(&traced)
    #expect(traced == untraced)
    #expect(lines.contains { $0.contains("No space left on device") }, "\(lines)")
    try expectStopped(mountPoint + "/full.trace", errno: ENOSPC)
  }

  @Test("A limit on file sizes stops the recording, not the program") func fileSizeLimit() throws {
    let directory = try TemporaryDirectory()
    let limited = ["/bin/sh", "-c", "ulimit -f 4000; exec \"$@\"", "sh"]
    let untraced = try Command(limited + (try program())).run()
    var traced = try Command(
      limited + [BuildProducts.leaktrace, "record", "--quiet", "-o", directory.path + "/limited.trace", "--"]
        + (try program())
    ).run()
    let lines = TracedRun.separateRecorderLines(&traced)
    #expect(traced == untraced)
    #expect(lines.contains { $0.contains("File too large") }, "\(lines)")
    try expectStopped(directory.path + "/limited.trace", errno: EFBIG)
  }

  @Test("A limit that allows no file ends neither the program nor the command")
  func noFiles() throws {
    let directory = try TemporaryDirectory()
    // The output goes through a pipe, because the limit would apply to an output file, too.
    let outcome = try Command(
      [
        "/bin/bash", "-o", "pipefail", "-c", "(ulimit -f 0; exec \"$@\" 2>&1) | cat", "bash", BuildProducts.leaktrace,
        "record", "--quiet", "-o", directory.path + "/none.trace", "--", "/bin/echo", "ran",
      ]
    ).run()
    #expect(
      outcome.end == .exit(0) && outcome.output.hasPrefix("ran\n")
        && outcome.output.contains("the limit on file sizes"), "\(outcome)")
    #expect(try directory.fileNames() == [])
    // An empty trace that an earlier version left there is no obstacle.
    _ = try directory.write("", to: "none.trace")
    let again = try Command([
      BuildProducts.leaktrace, "record", "--quiet", "-o", directory.path + "/none.trace", "--", "/bin/echo", "ran",
    ]).run()
    #expect(again.end == .exit(0) && RecordedTrace(path: directory.path + "/none.trace") != nil)
  }

  private func expectStopped(_ path: String, errno: Int32) throws {
    let trace = try #require(RecordedTrace(path: path))
    #expect(trace.state == .stopped(errno))
    #expect(trace.eventCount > 0)
    let contents = try TraceContents(path, .mayBeCutShort)
    #expect(contents.orphans == 0)
    #expect(contents.count("malloc") > 1000)
    #expect(contents.count("malloc") < 2_000_000)
  }

  @Test("record refuses a missing directory before the program starts") func missingDirectory() throws {
    let outcome = try Command(
      [BuildProducts.leaktrace, "record", "-o", "/nonexistent/x.trace", "--", "/bin/echo", "started"]).run()
    #expect(outcome.end == .exit(125))
    #expect(outcome.output == "")
    #expect(outcome.errorOutput.contains("/nonexistent"))
  }

  @Test(
    "A preloaded program runs on if its trace cannot be created",
    arguments: [
      "/nonexistent/x.trace", "/proc/x.trace", "/dev/null/x.trace",
    ])
  func unwritableDirectory(output: String) throws {
    var command = Command([try TestProgram("endings.c").path(), "return", "1000"])
    let untraced = try command.run()
    command.environment["LD_PRELOAD"] = BuildProducts.preloadLibrary
    command.environment["LEAKTRACE_OUTPUT"] = output
    var preloaded = try command.run()
    // Without `record`, the library prints the message itself.
    #expect(TracedRun.separateRecorderLines(&preloaded).count <= 1)
    #expect(preloaded == untraced)
  }

  @Test("A symbolic link in place of the trace is not followed") func symbolicLink() throws {
    let directory = try TemporaryDirectory()
    let target = try directory.write("precious", to: "precious")
    try FileManager.default.createSymbolicLink(atPath: directory.path + "/link.trace", withDestinationPath: target)
    var command = Command([try TestProgram("endings.c").path(), "return", "1000"])
    command.environment["LD_PRELOAD"] = BuildProducts.preloadLibrary
    command.environment["LEAKTRACE_OUTPUT"] = directory.path + "/link.trace"
    #expect(try command.run().end == .exit(21))
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "precious")

    let recorded = try Command(
      [BuildProducts.leaktrace, "record", "-o", directory.path + "/link.trace", "--", "/bin/echo", "started"]).run()
    #expect(recorded.end == .exit(125))
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "precious")
  }

  @Test("Only the owner can read a trace") func permissions() throws {
    let directory = try TemporaryDirectory()
    let outcome = try Command(
      ["/bin/sh", "-c", "umask 000; exec \"$@\"", "sh"] + TracedRun.recordArguments(directory) + ["/bin/echo"]
    ).run()
    #expect(outcome.end == .exit(0))
    let path = try #require(try TracedRun.traces(in: directory).first).path
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }
}
