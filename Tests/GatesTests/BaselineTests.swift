// The file of accepted findings: reading it, writing it, edits by people, and updates.

import Testing

@testable import LeakGates

@Suite struct BaselineTests {
  private func parse(_ text: String) throws(BaselineSyntaxError) -> Baseline {
    try Baseline(parsing: text.utf8, file: "leaks.txt")
  }

  private let a = GateFixture.fingerprint(0xA), b = GateFixture.fingerprint(0xB), c = GateFixture.fingerprint(0xC)

  @Test func baselineLineHasFingerprintInstancesVerdictSubjectAndReason() throws {
    let update = Baseline().updated(with: [
      GateFixture.finding(0xB, .lost, type: "Socket"), GateFixture.finding(0xA, instances: 20),
    ])
    let lines = update.baseline.text.split(separator: "\n").filter { !$0.hasPrefix("#") }
    #expect(lines == ["\(a) 20 retainCycle \"Node ↺\"", "\(b) 1 lost \"Socket\""])
    #expect(update.baseline.text.hasPrefix("# Leaks that are known and accepted"))
    #expect(update.added.map(\.fingerprint) == [a, b] && update.dropped.isEmpty)
    let read = try parse("\(a) 20 retainCycle \"Node ↺\" the player's, reported \"upstream\" \n")
    #expect(read[a]?.reason == "the player's, reported \"upstream\"")
    #expect(read[a]?.instances == 20 && read[a]?.verdict == "retainCycle" && read[a]?.subject == "Node ↺")
    #expect(read[b] == nil)
  }

  @Test func baselineRoundTrips() throws {
    var random = SystemRandomNumberGenerator()
    let pool: [Character] = [
      "a", "\"", "\\", "\n", "\r", "\t", " ", "#", "{", "}", "u", "\u{1B}", "\u{202E}", "\u{2028}", "\u{301}", "↺", "🐛",
      "<", "=", "\u{0}",
    ]
    for _ in 0..<300 {
      var entries: [Baseline.Entry] = []
      for number in 0..<UInt64.random(in: 0...6) {
        let subject = String((0..<Int.random(in: 0...12)).map { _ in pool.randomElement(using: &random)! })
        entries.append(
          .init(
            fingerprint: GateFixture.fingerprint(number), instances: .random(in: 1...99), verdict: "lost",
            subject: subject,
            reason: ["", "known", "\"quoted\" \\ # not a comment", "\u{301} combining"].randomElement()!))
      }
      let baseline = Baseline(entries.shuffled(), head: Baseline.standardHead, tail: ["# the end"])
      let text = baseline.text
      #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 && $0 != "\u{202E}" && $0 != "\u{2028}" })
      let read = try parse(text)
      #expect(read.entries == baseline.entries)
      #expect(read.text == text || entries.isEmpty)
    }
  }

  @Test func editedBaselineIsParsedLeniently() throws {
    let text =
      "\u{FEFF}# ours\r\n\r\n\(b)   2\tlost   \"B\"  \t why not  \r\n\r\n  # about a\r\n  \(a) 1 lost \"A\"\r\n\r\n"
    let baseline = try parse(text)
    #expect(baseline.entries.map(\.fingerprint) == [a, b])
    #expect(baseline.entries.map(\.reason) == ["", "why not"])
    #expect(baseline.entries[0].comments == ["# about a"])
    #expect(baseline.text == "# ours\n\n# about a\n\(a) 1 lost \"A\"\n\(b) 2 lost \"B\" why not\n")
  }

  @Test func duplicateLinesAfterAMergeAreCombined() throws {
    let baseline = try parse(
      "\(a) 3 lost \"A\" first\n\(a) 7 lost \"A\" second\n\(a) 5 lost \"A\" first\n\(b) 1 lost \"B\"\n\(b) 1 lost \"B\" said\n"
    )
    #expect(baseline.entries.map(\.instances) == [7, 1])
    #expect(baseline[b]?.reason == "said")
    #expect(baseline[a]?.reason.hasPrefix("first; second") == true)
  }

  @Test(arguments: [
    ("# x\n<<<<<<< HEAD\n", "leaks.txt:2: a merge conflict."), ("=======\n", "leaks.txt:1: a merge conflict."),
    (">>>>>>> topic\r\n", "leaks.txt:1: a merge conflict."),
    ("||||||| base", "leaks.txt:1: a merge conflict."), ("hello\n", "leaks.txt:1: 'hello' is not a fingerprint"),
    ("00000000000000AB 1 lost \"x\"", "leaks.txt:1: '00000000000000AB' is not a fingerprint"),
    ("000000000000000a 0 lost \"x\"", "leaks.txt:1: '0' is not a number of instances"),
    ("000000000000000a -1 lost \"x\"", "leaks.txt:1: '-1' is not a number of instances"),
    (
      "000000000000000a 99999999999999999999 lost \"x\"",
      "leaks.txt:1: '99999999999999999999' is not a number of instances"
    ), ("000000000000000a", "leaks.txt:1: '' is not a number of instances"),
    ("000000000000000a 1 \"x\"", "leaks.txt:1: '\"x\"' is not a verdict"),
    ("000000000000000a 1 lost x", "leaks.txt:1: after the verdict"),
    ("000000000000000a 1 lost \"x", "leaks.txt:1: after the verdict"),
    ("000000000000000a 1 lost \"\\q\"", "leaks.txt:1: after the verdict"),
    ("000000000000000a 1 lost \"\\u{d800}\"", "leaks.txt:1: after the verdict"),
    ("000000000000000a 1 lost \"\\", "leaks.txt:1: after the verdict"),
    ("000000000000000a 1 lost \"\\u{", "leaks.txt:1: after the verdict"),
    ("\u{1B}[31m 1 lost \"x\"", "leaks.txt:1: '\\u{1b}[31m' is not a fingerprint"),
  ])
  func malformedLineIsAnErrorWithItsPosition(text: String, message: String) {
    let error = #expect(throws: BaselineSyntaxError.self) { try parse(text) }
    #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "")")
  }

  @Test func invalidUTF8IsAnError() {
    let error = #expect(throws: BaselineSyntaxError.self) {
      try Baseline(parsing: Array("# x\n".utf8) + [0x23, 0xFF], file: "f")
    }
    #expect(error?.description == "f:2: the line is not UTF-8")
  }

  @Test func instancesDecideWhetherAFindingIsNewKnownOrWorse() throws {
    let baseline = try parse("\(a) 20 lost \"A\" why\n\(b) 1 lost \"B\"\n")
    func standing(_ number: UInt64, _ instances: Int, tolerance: Double = Baseline.tolerance) -> JudgedFinding.Standing
    {
      baseline.judge([GateFixture.finding(number, instances: instances)], tolerance: tolerance)[0].standing
    }
    #expect(standing(0xA, 20) == .known(reason: "why") && standing(0xA, 3) == .known(reason: "why"))
    #expect(standing(0xA, 21) == .worse("21 instances where 20 are accepted"))
    #expect(
      standing(0xA, 21, tolerance: 0.1) == .known(reason: "why")
        && standing(0xA, 22, tolerance: 0.1) != .known(reason: "why"))
    #expect(standing(0xB, 2) == .worse("2 instances where 1 are accepted") && standing(0xB, 1) == .known(reason: ""))
    #expect(standing(0xC, 1) == .new)
  }

  @Test func suppressedAndLibraryFindingsAreNeitherJudgedNorWritten() throws {
    let findings = [GateFixture.finding(0xA, suppression: "x"), GateFixture.finding(0xB, library: true)]
    let baseline = try parse("\(a) 1 lost \"A\"\n")
    #expect(baseline.judge(findings).map(\.standing) == [.hidden(pattern: "x"), .library])
    #expect(baseline.unmatched(by: findings).map(\.fingerprint) == [a])
    #expect(baseline.updated(with: findings).baseline.entries.isEmpty)
  }

  @Test func updateKeepsReasonsAndCommentsAndDropsAbsentFindings() throws {
    let old = try parse(
      "# our head\n#\n\n# see the wiki\n\(a) 20 lost \"A of old\" because\n\(b) 1 lost \"B\" gone soon\n# end\n")
    let update = old.updated(with: [
      GateFixture.finding(0xA, instances: 25), GateFixture.finding(0xC), GateFixture.finding(0xC, instances: 4),
    ])
    #expect(
      update.baseline.text
        == "# our head\n#\n\n# see the wiki\n\(a) 25 retainCycle \"A of old\" because\n\(c) 4 retainCycle \"Node ↺\"\n\n# end\n"
    )
    #expect(
      update.added.map(\.fingerprint) == [c] && update.dropped.map(\.fingerprint) == [b]
        && update.changed.map(\.fingerprint) == [a])
    #expect(
      update.baseline.updated(with: [GateFixture.finding(0xA, instances: 25), GateFixture.finding(0xC, instances: 4)])
        .isEmpty)
  }

  @Test func extensionDropsNoFindingAndLowersNoCount() throws {
    let old = try parse("# our head\n\n\(a) 20 lost \"A\" because\n\(b) 2 lost \"B\" gone soon\n")
    let update = old.extended(with: [GateFixture.finding(0xA, instances: 5), GateFixture.finding(0xC)])
    #expect(update.dropped.isEmpty && update.changed.isEmpty && update.added.map(\.fingerprint) == [c])
    #expect(
      update.baseline.text.hasPrefix("# our head\n\n\(a) 20 lost \"A\" because\n\(b) 2 lost \"B\" gone soon\n\(c) "))
    #expect(old.extended(with: [GateFixture.finding(0xA, instances: 25)]).changed.map(\.instances) == [25])
    #expect(old.extended(with: []).isEmpty)
  }

  @Test func emptyBaselineGetsItsHeaderWithTheFirstFinding() throws {
    let update = try parse("").updated(with: [GateFixture.finding(1)])
    #expect(update.baseline.text.hasPrefix("# Leaks that are known"))
    #expect(update.added.count == 1)
  }

  @Test func baselineAcceptsNewFindingsOfAComparison() throws {
    let baseline = try parse("\(a) 1 lost \"A\" fine\n")
    let judged = [
      JudgedFinding(GateFixture.finding(0xA), .new), JudgedFinding(GateFixture.finding(0xB), .new),
      JudgedFinding(GateFixture.finding(0xC), .worse("w")),
    ]
    #expect(baseline.accepting(judged).map(\.standing) == [.known(reason: "fine"), .new, .worse("w")])
  }
}
