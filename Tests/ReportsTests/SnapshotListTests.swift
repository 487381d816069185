import Foundation
import Testing
import TextWriting
import TraceTestSupport

@testable import TraceReading
@testable import TraceReports

/// The output of `leaktrace snapshots`.
@Suite struct SnapshotListTests {
  private func reader() throws -> TraceReader {
    var trace = TraceBuilder()
    trace.definitions = [.process(ProcessRecord(executable: "/bin/app", flags: 1))]
    func end(_ error: Int32 = 0) -> TraceSnapshot.End {
      .init(error: error, capturedBytes: 3 << 20, pauseNanoseconds: 1_500_000, totalNanoseconds: 9_000_000)
    }
    trace.snapshots = [
      (
        TraceSnapshot(number: 1, reason: .call, time: 2_000_000_000, label: "after\u{1B}[2J login", end: end()),
        [(address: 0x1000, value: 1)]
      ),
      (TraceSnapshot(number: 2, reason: .round, time: 3_000_000_000, isFrozen: false, end: nil), []),
      (TraceSnapshot(number: 3, reason: .exit, time: 4_000_000_000, end: end(ENOSPC)), []),
    ]
    return try trace.reader()
  }

  private func rows(_ text: String) -> [String] {
    text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
  }

  @Test func eachImageHasALineWithItsTimeReasonAndCompleteness() throws {
    let rows = rows(SnapshotList(try reader(), path: "app.trace").text(style: TextStyle(width: 200), whenNone: "none"))
    #expect(
      rows.count == 5 && rows[0] == "app.trace: 3 heap images"
        && rows[1] == "number time reason memory in trace pause label")
    #expect(
      rows[2].hasPrefix("1 2.0 s call 3.00 MiB ") && rows[2].hasSuffix("1.5 ms \"after\\u{1b}[2J login\""), "\(rows[2])"
    )
    #expect(
      rows[3].hasPrefix("2 3.0 s end of round ? ")
        && rows[3].hasSuffix("? incomplete: it was not written to its end, threads were not stopped"), "\(rows[3])")
    #expect(
      rows[4].hasPrefix("3 4.0 s exit 3.00 MiB ")
        && rows[4].contains("incomplete: there was no room for it in the file system"), "\(rows[4])")
  }

  @Test func longLabelsGetTheirOwnLinesInANarrowWindow() throws {
    let text = SnapshotList(try reader(), path: "app.trace").text(style: TextStyle(width: 60), whenNone: "none")
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 60 }, "\(text)")
    #expect(!rows(text).contains("label"))
  }

  @Test func traceWithoutImagesShowsTheReason() throws {
    #expect(
      SnapshotList(try TraceBuilder().reader(), path: "a").text(style: TextStyle(), whenNone: "the program was killed")
        == "the program was killed\n")
  }

  @Test func jsonHasASnapshotsFieldsWithTimeSizeAndProblem() throws {
    let text = SnapshotList(try reader(), path: "app.trace").json()
    let document = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    #expect(
      document["schema"] as? String == "leaktrace.snapshots" && document["program"] as? String == "/bin/app"
        && document["processID"] as? Int == 42)
    let snapshots = try #require(document["snapshots"] as? [[String: Any]])
    #expect(
      snapshots.map { $0["number"] as? Int } == [1, 2, 3]
        && snapshots.map { $0["reason"] as? String } == ["call", "round", "exit"])
    #expect(
      snapshots.map { $0["isWhole"] as? Bool } == [true, false, false]
        && snapshots.map { $0["seconds"] as? Double } == [2, 3, 4])
    #expect(
      snapshots[0]["problem"] is NSNull
        && snapshots[1]["problem"] as? String == "incomplete: it was not written to its end")
    #expect(snapshots[0]["pauseNanoseconds"] as? Int == 1_500_000 && (snapshots[0]["storedBytes"] as? Int ?? 0) > 0)
    #expect((document["failed"] as? [Any])?.isEmpty == true)
  }
}
