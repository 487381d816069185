// Comparisons of types and holders of inspections and light recordings.

import Testing

@testable import LeakDetection
@testable import RunDiff

@Suite struct HolderDiffTests {
  private enum Kind { case light, inspected }

  private static func run(_ kind: Kind, _ rows: [(type: String, holder: String, objects: UInt64)]) -> RunDigest {
    var digest = DigestBuilder().digest
    let census = rows.map { type, holder, objects in
      var row = HolderCensus.Row(
        key: HolderCensus.Key(type: type, holder: holder), name: type, kind: .object, holderKind: .field)
      (row.objects, row.bytes) = (objects, objects * 64)
      return row
    }
    let objects = census.reduce(0) { $0 + $1.objects }
    digest.replaceSites(with: HolderCensus(rows: census, objects: objects, bytes: objects * 64))
    switch kind {
    case .light: digest.isLight = true
    case .inspected: digest.inspected = InspectedMoment(processStart: 1, age: 1)
    }
    return digest
  }

  private static let rows = [("App.Session", "Server.sessions", UInt64(500)), ("App.Rest", "Server.rest", 5_000)]
  private static let more = [
    ("App.Session", "Server.sessions", UInt64(500)), ("App.Session", "Log.entries", 900),
    ("App.Rest", "Server.rest", 5_000),
  ]

  @Test(arguments: [(Kind.light, Kind.light), (.inspected, .inspected), (.light, .inspected), (.inspected, .light)])
  private func rowsAreTypesAndHolders(old: Kind, new: Kind) throws {
    let same = try RunComparison.report(old: [Self.run(old, Self.rows)], new: [Self.run(new, Self.rows)])
    #expect(same.listsHolders && same.sites.changes.isEmpty && same.sites.unchanged == 2)
    let report = try RunComparison.report(old: [Self.run(old, Self.rows)], new: [Self.run(new, Self.more)])
    #expect(
      report.sites.changes.map { "\($0.kind) \($0.name) \($0.frames.map(\.function))" } == [
        "new App.Session [\"held by Log.entries\"]"
      ])
    #expect(report.types.summary == ["worse App.Session liveBytes,liveBlocks"])
    #expect(report.totals.map(\.figure) == [.liveBytes, .liveBlocks])
    #expect(report.areInspections == (old == .inspected && new == .inspected))
    #expect(!report.remarks.contains { $0.contains("only types and findings match") })
    #expect(report.remarks.contains { $0.hasPrefix("light recordings") } == (old == .light || new == .light))
  }

  @Test func sidesAreLabeledByKind() throws {
    let report = try RunComparison.report(old: [Self.run(.light, Self.rows)], new: [Self.run(.inspected, Self.rows)])
    #expect(DiffWords.side(report.old) == "app, 1 light recording")
    #expect(DiffWords.side(report.new) == "app, 1 inspection, 1,000 blocks")
  }

  /// Digests of earlier versions list rows by type for light recordings, and by type and holder for inspections, but do
  /// not say which.
  @Test func digestsOfEarlierVersionsAreRead() throws {
    func earlier(_ digest: RunDigest) throws -> RunDigest {
      var digest = digest
      digest.listsHolders = nil
      let text = String(decoding: try DigestFile.bytes(digest), as: UTF8.self)
      #expect(!text.contains("listsHolders") && !text.contains("estimates") && !text.contains("samplePeriod"))
      return try DigestFile.digest(Array(text.utf8))
    }
    let inspected = try earlier(Self.run(.inspected, Self.rows))
    let report = try RunComparison.report(old: [inspected], new: [Self.run(.light, Self.more)])
    #expect(report.listsHolders && report.sites.changes.map(\.kind) == [.new])

    var light = RunDigest.make { run in
      run.site("App.Session", [], blocks: 500, live: 500)
      run.site("App.Rest", [], blocks: 5_000, live: 5_000)
    }
    light.isLight = true
    let old = try earlier(light)
    let byType = try RunComparison.report(old: [old], new: [Self.run(.light, Self.more)])
    #expect(!byType.listsHolders && byType.remarks.contains { $0.contains("older digests of light recordings") })
    #expect(byType.types.summary == ["worse App.Session liveBytes,liveBlocks"])
  }

  /// Blocks that libraries keep for themselves have different holders in different runs.
  @Test func unheldUntypedMemoryIsOneRow() throws {
    func run(_ lost: UInt64, _ kept: UInt64, held: UInt64 = 100) -> RunDigest {
      Self.run(
        .light,
        [
          ("malloc", "nothing", lost), ("malloc", "thread-local variables", kept), ("malloc", "Server.buffers", held),
          ("App.Session", "nothing", 100),
        ])
    }
    let same = try RunComparison.report(old: [run(192, 75)], new: [run(73, 193)])
    #expect(same.sites.changes.isEmpty && same.sites.unchanged == 3)
    let more = try RunComparison.report(old: [run(192, 75)], new: [run(73, 900)])
    #expect(more.sites.changes.map { $0.frames.map(\.function) } == [["held by nothing of the program's"]])
    let held = try RunComparison.report(old: [run(192, 75)], new: [run(192, 75, held: 900)])
    #expect(held.sites.changes.map { $0.frames.map(\.function) } == [["held by Server.buffers"]])
  }

  @Test func digestKeepsHoldersAndEstimates() throws {
    var digest = RunDigest.make {
      $0.estimate(["fill()", "main"], live: (1e6, 5e5), allocated: (1e6, 5e5))
      $0.digest.frames.append(DiffFrame(function: "of no stack", stableName: "of no stack"))
    }
    let estimates = digest.estimates
    var row = HolderCensus.Row(
      key: HolderCensus.Key(type: "App.Session", holder: "Server.sessions"), name: "Session", kind: .object,
      holderKind: .field)
    (row.objects, row.bytes) = (5, 320)
    digest.replaceSites(with: HolderCensus(rows: [row], objects: 5, bytes: 320))
    #expect(digest.sites.map { digest.frames(of: $0).map(\.function) } == [["held by Server.sessions"]])
    #expect(digest.estimates == estimates)
    #expect(digest.estimates.map { digest.frames(of: $0[0]).map(\.function) } == ["fill()", "main"])
    #expect(try DigestFile.digest(DigestFile.bytes(digest)) == digest && !digest.hasTooManyFunctions)
  }

  @Test func processesOfOneRunAreSummed() throws {
    var both = Self.run(.light, Self.rows)
    both.add(Self.run(.light, Self.more))
    #expect(both.hasHolders && both.total.liveBlocks == 11_900)
    var mixed = Self.run(.light, Self.rows)
    mixed.add(RunDigest.make { $0.site("App.Session", ["make()"], blocks: 5) })
    #expect(!mixed.hasHolders)
  }
}
