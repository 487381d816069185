import Testing

@testable import RunDiff

@Suite struct DigestFileTests {
  private var digest: RunDigest {
    .make { run in
      run.site("App.Node", ["Graph.build()", "main"], blocks: 500, retains: 70, live: 3, peak: 9)
      run.cycle(
        [
          DigestBuilder.step("Screen", ["show()", "main"], "child"),
          DigestBuilder.step("Model", ["show()", "main"], "parent"),
        ], instances: 7)
      run.digest.scopes = ["request": 12]
      run.digest.remarks = ["quotes \" and \\ and \u{1F600}\n"]
    }
  }

  @Test func digestRoundTrips() throws {
    let bytes = try DigestFile.bytes(digest)
    #expect(DigestFile.isDigest(bytes))
    #expect(try DigestFile.digest(bytes) == digest)
    #expect(try DigestFile.bytes(try DigestFile.digest(bytes)) == bytes)
  }

  @Test func truncatedDigestIsRejected() throws {
    let bytes = try DigestFile.bytes(digest)
    // Without the last byte, a line end, the file is still complete.
    for length in 0..<bytes.count - 1 {
      #expect(throws: DigestFile.Failure.self) { try DigestFile.digest(Array(bytes[..<length])) }
    }
  }

  @Test func newerDigestVersionIsRejected() throws {
    let text = String(decoding: try DigestFile.bytes(digest), as: UTF8.self).replacing(
      "\"schemaVersion\":1", with: "\"schemaVersion\":9")
    #expect(throws: DigestFile.Failure.newerVersion(found: 9, known: 1)) { try DigestFile.digest(Array(text.utf8)) }
  }

  @Test(
    arguments: [
      { (digest: inout RunDigest) in digest.stacks[0].frame = 99 }, { $0.stacks[0].caller = 1 },
      { $0.stacks[1].caller = 1 }, { $0.stacks[1].caller = -7 },
      { $0.sites[0].stack = 5 }, { $0.sites[0].innermost = 2 }, { $0.sites[0].innermost = -2 },
      { $0.findings![0].allocations.removeLast() },
      { $0.findings![0].finding.path = [] }, { $0.findings![0].finding.instances = -1 },
      { $0.findings![0].finding.instances = .max },
    ] as [@Sendable (inout RunDigest) -> Void])
  func digestWithInvalidIndicesIsRejected(_ damage: @Sendable (inout RunDigest) -> Void) throws {
    var digest = digest
    damage(&digest)
    let bytes = try DigestFile.bytes(digest)
    #expect(throws: DigestFile.Failure.self) { try DigestFile.digest(bytes) }
  }

  @Test func processesOfARunAreSummed() throws {
    var both = digest
    both.add(digest)
    #expect(both.total.allocatedBlocks == 1000 && both.scopes == ["request": 24])
    #expect(both.findings?.map(\.finding.instances) == [14])
    let report = try RunComparison.report(old: [digest], new: [both])
    #expect(report.sites.changes.map(\.name) == ["App.Node"] && report.sites.changes.first?.kind == .worse)
    #expect(report.findings?.summary == ["worse retainCycle Screen"])
  }
}
