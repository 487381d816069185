import Testing

@testable import TraceReading
@testable import TraceReports

@Suite struct ProgressTextTests {
  private func position(_ bytes: UInt64, events: UInt64 = 0, pass: Int = 0) -> ReadingPosition {
    var position = ReadingPosition(totalBytes: 1000)
    (position.bytes, position.events, position.pass) = (bytes, events, pass)
    return position
  }

  @Test func progressStartsAfterASecondAndUpdatesFourTimesASecond() {
    var text = ProgressText("a.trace", now: 100)
    let due = stride(from: 100.0, to: 103.0, by: 0.0625).filter { text.isDue($0) }
    #expect(due == [101, 101.25, 101.5, 101.75, 102, 102.25, 102.5, 102.75])
  }

  @Test(arguments: [
    (200, "leaktrace: reading feed.trace [#######.......................]  25%, 0:06 left, 3.0 M events/s"),
    (80, "leaktrace: reading feed.trace [###............]  25%, 0:06 left, 3.0 M events/s"),
    (60, "leaktrace: [###...........]  25%, 0:06 left, 3.0 M events/s"),
    (40, "leaktrace: [##........]  25%, 0:06 left"),
    (30, "leaktrace:  25%, 0:06 left"), (20, "leaktrace:  25%"), (10, "leaktrace"),
  ])
  func narrowTerminalsOmitParts(columns: Int, expected: String) {
    var text = ProgressText("feed.trace", now: 10)
    text.see(position(0), now: 10)
    let line = text.line(position(250, events: 6_000_000), now: 12, columns: columns)
    #expect(line == expected)
  }

  @Test func linesAreNarrowerThanTheTerminal() {
    for columns in 1...300 {
      for bytes in [0, 3, 10, 500, 999, 1000] as [UInt64] {
        for (name, seconds) in [("x", 1.5), ("a-long-name.of.a.program.12345.trace", 5000), ("日本", 100_000)] {
          var text = ProgressText(name, now: 0)
          text.see(position(0), now: 0)
          let line = text.line(position(bytes, events: bytes * 1_000_000), now: seconds, columns: columns)
          #expect(line.count < columns && !line.contains("\n"), "\(columns): \(line)")
        }
      }
    }
  }

  @Test func nameOfUnknownWidthIsOmitted() {
    for name in ["日本.trace", "a\u{1B}[2J.trace", "a\nb"] {
      let line = ProgressText(name, now: 0).line(position(250), now: 2, columns: 200)
      #expect(line.hasPrefix("leaktrace: reading ["), "\(line)")
    }
  }

  @Test func timeLeftFollowsTheRate() {
    func left(_ bytes: UInt64, _ seconds: Double) -> String {
      var text = ProgressText("a", now: 0)
      text.see(position(0), now: 0)
      let line = text.line(position(bytes), now: seconds, columns: 60)
      return line.split(separator: ",").first { $0.hasSuffix("left") }.map { String($0.dropFirst()) } ?? ""
    }
    #expect(left(500, 10) == "0:10 left")
    #expect(left(100, 100) == "15:00 left")
    #expect(left(10, 100) == "2:45:00 left")
    #expect(left(1000, 10) == "0:00 left")
    // It is too early for an estimate.
    #expect(left(9, 10) == "")
    #expect(left(0, 10) == "")
  }

  @Test func rateIsThatOfTheLastSeconds() {
    var text = ProgressText("a", now: 0)
    // There are 1 byte and 1,000 events a second for 50 seconds, and then 50 bytes and 2,000,000 events a second.
    for tenth in 0...500 {
      text.see(position(UInt64(tenth) / 10, events: UInt64(tenth) * 100), now: Double(tenth) / 10)
    }
    for tenth in 1...103 {
      text.see(position(50 + UInt64(tenth) * 5, events: 50_000 + UInt64(tenth) * 200_000), now: 50 + Double(tenth) / 10)
    }
    let line = text.line(position(565, events: 20_650_000), now: 60.3, columns: 100)
    #expect(line.hasSuffix(" 56%, 0:09 left, 2.0 M events/s"))
  }

  @Test func anotherPassIsNamedAndHasItsOwnRate() {
    var text = ProgressText("a.trace", now: 0)
    text.see(position(999, events: 10_000_000), now: 10)
    text.see(position(0, pass: 1), now: 20)
    text.see(position(500, events: 4_000_000, pass: 1), now: 22)
    #expect(
      text.line(position(500, events: 4_000_000, pass: 1), now: 22, columns: 100).hasPrefix(
        "leaktrace: reading again a.trace ["))
    #expect(
      text.line(position(500, events: 4_000_000, pass: 1), now: 22, columns: 100).hasSuffix(
        " 50%, 0:02 left, 2.0 M events/s"))
  }

  @Test func emptyInputDoesNotFail() {
    let text = ProgressText("a", now: 5)
    #expect(
      text.line(ReadingPosition(totalBytes: 0), now: 5, columns: 60)
        == "leaktrace: reading a [....................]   0%")
  }
}
