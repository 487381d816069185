import Foundation
import Testing

import TextWriting
@testable import TraceReading
@testable import TraceRecording

/// The output of `leaktrace ps`.
@Suite struct ProcessListTests {
  private func list(
    hidden: Int = 0, isListPartial: Bool = false, isPrivileged: Bool = false, _ processes: [RecordingProcess]
  ) -> ProcessList {
    ProcessList(.init(processes: processes, hidden: hidden, isListPartial: isListPartial, isPrivileged: isPrivileged)) {
      "at \($0 / 1_000_000_000)"
    }
  }

  private var server: RecordingProcess {
    RecordingProcess(
      processID: 4711, program: "/srv/bin/server", tracePath: "/tmp/server.trace", startRealtime: 12_000_000_000,
      traceSize: ByteCount(2048), eventCount: 12_345, state: .recording)
  }

  private func rows(_ text: String) -> [String] {
    text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
  }

  @Test func eachProcessHasALine() {
    var paused = server
    (paused.processID, paused.state, paused.startRealtime, paused.traceSize, paused.eventCount) = (
      12, .paused, nil, nil, nil
    )
    let rows = rows(list([paused, server]).text(style: TextStyle(width: 120)))
    #expect(
      rows == [
        "PID program since events trace size trace", "12 server ? ? ? /tmp/server.trace (paused)",
        "4711 server at 12 12,345 2.00 KiB /tmp/server.trace",
      ])
  }

  @Test func hiddenProcessesAreReported() {
    #expect(
      rows(list(hidden: 1, []).text(style: TextStyle(width: 200))) == [
        "no process is being recorded",
        "note: 1 process could not be looked at: it belongs to another user, or protects its memory. Run as root to see all",
      ])
    let text = list(hidden: 1200, isListPartial: true, isPrivileged: true, []).text(style: TextStyle(width: 200))
    #expect(
      text.contains("1,200 processes could not be looked at") && text.contains("hides other users' processes")
        && !text.contains("Run as root"))
    #expect(!list([server]).text(style: TextStyle()).contains("note"))
  }

  @Test func jsonHasNullsForUnknownValues() throws {
    var unknown = server
    (unknown.program, unknown.startRealtime, unknown.traceSize, unknown.eventCount) = (nil, nil, nil, nil)
    let text = list(hidden: 3, [server, unknown]).json()
    let document = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    #expect(document["schema"] as? String == "leaktrace.processes" && document["hiddenProcesses"] as? Int == 3)
    let processes = try #require(document["processes"] as? [[String: Any]])
    #expect(
      processes[0]["processID"] as? Int == 4711 && processes[0]["program"] as? String == "/srv/bin/server"
        && processes[0]["startSeconds"] as? Double == 12)
    #expect(
      processes[0]["events"] as? Int == 12_345 && processes[0]["traceBytes"] as? Int == 2048
        && processes[0]["isPaused"] as? Bool == false)
    #expect(["program", "startSeconds", "events", "traceBytes"].allSatisfy { processes[1][$0] is NSNull })
  }
}
