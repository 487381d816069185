// The exact text that `record` prints at the end.

import Foundation
import Testing
import TraceReading
import TraceRecording
import TraceTestSupport

struct RecordingSummaryTests {
  private func trace(_ name: String, events: UInt64, size: Int, _ change: (inout TraceClosing) -> Void = { _ in })
    throws -> RecordedTrace
  {
    let directory = try TemporaryDirectory()
    var header = TraceHeader()
    header.processID = 7
    header.stackDepthLimit = 64
    var writer = TraceWriter(header: header)
    var closing = TraceClosing()
    closing.eventCount = events
    change(&closing)
    try writer.append(closing)
    let path = directory.path + "/" + name
    try Data(writer.bytes).write(to: URL(fileURLWithPath: path))
    var trace = try #require(RecordedTrace(path: path))
    trace.path = name
    trace.fileSize = ByteCount(UInt64(size))
    return trace
  }

  private func summary(_ traces: [RecordedTrace], running: Set<String> = [], messages: [String] = [])
    -> RecordingSummary
  {
    RecordingSummary(traces: traces, stillRecording: running, messages: messages, displayPath: { $0 })
  }

  @Test("The summary of one complete trace has no problems") func plain() throws {
    let summary = summary([try trace("app.trace", events: 26_123_456, size: 14_210_000)])
    #expect(summary.problems == [])
    #expect(summary.notes == ["26,123,456 events, 14.2 MB: app.trace", "next: leaktrace analyze app.trace"])
  }

  @Test("Dropped events are reported with the reason") func drops() throws {
    let lossy = try trace("it's.trace", events: 1, size: 999) {
      $0.drops = DropCounts(counts: [2, 0, 1, 1000, 1, 3, 0, 4, 0, 0, 0, 0])
      $0.untracedChildren = 3
    }
    let summary = summary([lossy])
    #expect(
      summary.problems == [
        "it's.trace: 2 events missing, made by signal handlers inside the recorder",
        "it's.trace: 1 event missing: no memory for a thread's buffer",
        "it's.trace: 4 stacks differed from a fresh unwind",
      ])
    #expect(
      summary.notes == [
        "1 event, 999 B: it's.trace", "it's.trace: 1,000 stacks cut at the limit of 64 frames",
        "it's.trace: 1 stack incomplete: code without unwind information",
        "3 child processes were not traced; --follow-children traces them too",
        "next: leaktrace analyze 'it'\\''s.trace'",
      ])
  }

  @Test("The ten largest of many traces are listed, and the others summed") func many() throws {
    let traces = try (1...13).map { try trace("\($0).trace", events: UInt64($0), size: $0 * 1000) }
    let summary = summary(traces, running: ["13.trace"])
    #expect(summary.notes.count == 12)
    #expect(summary.notes[0] == "13 events, 13.0 kB: 13.trace (process 7 still runs and records)")
    #expect(summary.notes[9] == "4 events, 4.00 kB: 4.trace")
    #expect(summary.notes[10] == "and 3 more traces: 6 events, 6.00 kB")
    #expect(summary.notes[11] == "next: leaktrace analyze 13.trace")
  }

  /// A process of a recording, with its process ID and its parent's.
  private struct Process {
    var number: UInt32
    var parent: UInt32 = 1
    var path: String
    var images: [String] = []
    var hasSwift = false
    var isReplaced = false
    var events: UInt64 = 10
  }

  /// Returns the indices in `processes` of the traces that the last line names.
  private func named(_ processes: [Process]) throws -> [Int] {
    let traces = try processes.enumerated().map { index, process in
      var trace = try trace("\(index)", events: process.events, size: 1000)
      (trace.processID, trace.parentProcessID) = (process.number, process.parent)
      trace.startRealtime = UInt64(index)
      if process.isReplaced { trace.state = .closed(.exec) }
      return trace
    }
    let summary = RecordingSummary(
      traces: traces.reversed(), stillRecording: [], messages: [],
      program: { trace in
        let process = processes[Int(trace.path)!]
        return TracedProgram(path: process.path, images: process.images, hasSwift: process.hasSwift)
      }, displayPath: { $0 })
    let begin = "next: leaktrace analyze "
    let line = try #require(summary.notes.last)
    #expect(line.hasPrefix(begin))
    return line.dropFirst(begin.count).split(separator: " ").compactMap { Int($0) }
  }

  @Test("The last trace of a process that executes programs is named") func executedPrograms() throws {
    let shell = Process(number: 5, path: "/bin/sh", isReplaced: true, events: 1000)
    #expect(try named([shell, Process(number: 5, path: "/usr/bin/python3")]) == [1])
    // The program that replaced the shell was not traced.
    #expect(try named([shell]) == [0])
    #expect(try named([shell, Process(number: 6, path: "/home/me/app")]) == [1])
    let driver = Process(number: 5, path: BuildProducts.toolchain + "/swift-driver", isReplaced: true, events: 1000)
    #expect(try named([driver, driver, Process(number: 5, path: "/home/me/app")]) == [2])
  }

  @Test("Only the test bundles are named under the package manager")
  func testBundles() throws {
    let tool = BuildProducts.toolchain
    let processes = [
      Process(number: 5, path: tool + "/swift", isReplaced: true, events: 1000),
      Process(number: 5, path: tool + "/swift-package", hasSwift: true, events: 1000),
      Process(
        number: 6, parent: 5, path: "/tmp/x/pkg-manifest", images: ["/t/libPackageDescription.so"], hasSwift: true),
      Process(number: 7, parent: 5, path: tool + "/swift-frontend", hasSwift: true, events: 1000),
      Process(number: 8, parent: 7, path: "/home/me/.build/debug/Macros-tool", hasSwift: true, events: 1000),
      Process(number: 9, parent: 5, path: "/usr/bin/git", events: 1000),
      Process(number: 10, parent: 5, path: "/home/me/.build/debug/Tests.xctest", hasSwift: true),
      Process(number: 11, parent: 10, path: "/home/me/.build/debug/helper", hasSwift: true),
      Process(number: 12, parent: 5, path: "/home/me/.build/debug/Tests.xctest", hasSwift: true),
    ]
    #expect(try named(processes) == [6, 8])
    // Without tests, no macro plugin counts as the program.
    #expect(try named(Array(processes[..<6])) == [1])
  }

  @Test("The command's own program comes before its children, and Swift before C") func ownProgram() throws {
    let server = Process(number: 5, path: "/home/me/server", hasSwift: true)
    let worker = Process(number: 6, parent: 5, path: "/home/me/server", hasSwift: true, events: 99)
    let other = Process(number: 7, parent: 5, path: "/home/me/helper", hasSwift: true, events: 1000)
    #expect(try named([server, worker, other]) == [0, 1])
    #expect(try named([server, worker, worker, worker, other]) == [1])
    let starter = Process(number: 5, path: "/home/me/starter", events: 1000)
    #expect(try named([starter, other]) == [1])
    #expect(try named([Process(number: 5, path: "/bin/sh", events: 1000), other, worker]) == [1, 2])
  }

  @Test("A removed directory is reported") func lostDirectory() {
    let summary = RecordingSummary(
      traces: [], stillRecording: [], messages: [], lostDirectory: "/home/me/out", displayPath: { $0 })
    #expect(summary.problems == ["no trace is left: /home/me/out was removed or replaced while the program ran"])
  }

  @Test("A session detects a removed or replaced directory") func removedDirectory() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/out"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    let session = RecordingSession(
      sessionID: 1, output: try OutputPattern("x.trace", currentDirectory: path), startTime: 0)
    #expect(session.lostDirectory == nil)
    // Rename the directory instead of removing it, so that the new directory cannot get its inode number.
    try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
    #expect(session.lostDirectory == path)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    #expect(session.lostDirectory == path)
  }

  @Test("Commands to copy have no control characters") func controlCharacters() throws {
    let trace = try trace("\u{1B}[31mred's\n.trace", events: 1, size: 1)
    #expect(summary([trace]).notes.last == "next: leaktrace analyze $'\\x1b[31mred\\'s\\x0a.trace'")
  }

  @Test("A missing trace is a problem, with the library's explanation if there is one") func none() {
    #expect(summary([]).problems == ["no trace was written: the program ended before the recorder was loaded"])
    let limited = RecordingSummary(traces: [], stillRecording: [], messages: [], fileSizeLimit: 0, displayPath: { $0 })
    #expect(
      limited.problems == [
        "no trace was written: the limit on file sizes, 0 B, leaves no room for one. Raise it (ulimit -f)"
      ])
    #expect(
      summary([], messages: ["cannot create /x: No space left on device"]).problems
        == ["cannot create /x: No space left on device"])
    #expect(summary([]).notes == [])
  }

  @Test(
    "Sizes have three digits",
    arguments: [
      (0, "0 B"), (999, "999 B"), (1000, "1.00 kB"), (1234, "1.23 kB"), (9994, "9.99 kB"), (9996, "10.0 kB"),
      (99_949, "99.9 kB"),
      (99_960, "100 kB"), (999_499, "999 kB"), (999_500, "1.00 MB"), (45_600_000, "45.6 MB"), (UInt64.max, "18.4 EB"),
    ] as [(UInt64, String)])
  func sizes(bytes: UInt64, text: String) { #expect(sizeText(bytes) == text) }

  @Test("The last closing record is found, and a damaged one is ignored") func closing() throws {
    let directory = try TemporaryDirectory()
    var writer = TraceWriter()
    var closing = TraceClosing()
    closing.eventCount = 5
    try writer.append(closing)
    let path = directory.path + "/a.trace"
    for damage in 0..<2 {
      var bytes = writer.bytes
      if damage == 1 { bytes[bytes.count - 20] ^= 1 }
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      let trace = try #require(RecordedTrace(path: path))
      #expect((trace.state == .closed(.exit)) == (damage == 0))
      #expect(trace.eventCount == (damage == 0 ? 5 : 0))
    }
    for length in [0, 7, 127, 128, 4095] {
      try Data(writer.bytes[..<length]).write(to: URL(fileURLWithPath: path))
      #expect(RecordedTrace(path: path) == nil)
    }
  }
}
