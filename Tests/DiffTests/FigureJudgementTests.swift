import Testing

@testable import RunDiff

@Suite struct FigureJudgementTests {
  private func direction(_ old: [Double], _ new: [Double], _ figure: Figure = .retains, tolerance: Double = 0.05)
    -> FigureChange.Direction
  {
    FigureJudgement(tolerance: FigureTolerance(part: tolerance)).change(figure, old: old, new: new).direction
  }

  @Test func singleRunsMustDifferByMoreThanTheTolerance() {
    #expect(direction([100_000], [104_000]) == .same)
    #expect(direction([100_000], [106_000]) == .worse)
    #expect(direction([100_000], [94_000]) == .better)
    #expect(direction([100_000], [100_001], tolerance: 0) == .worse)
  }

  @Test func smallCountsMustDifferByMoreThanChance() {
    #expect(direction([100], [120]) == .same)
    #expect(direction([100], [400]) == .worse)
    #expect(direction([100], [120], .instances) == .worse)
  }

  @Test func singleRunOfAThreadedProgramNeedsALargerDifference() throws {
    func run(threads: Int, blocks: UInt64, peak: UInt64) -> RunDigest {
      var digest = RunDigest.make { run in
        run.site("App.Part", ["part()", "main"], blocks: blocks, peak: peak)
        run.site("App.Rest", ["rest()", "main"], blocks: 400_000, peak: 10_000)
      }
      digest.busyThreads = threads
      return digest
    }
    for (threads, expected) in [(1, 1), (4, 0)] {
      let part = try RunComparison.report(
        old: [run(threads: threads, blocks: 10_000, peak: 0)], new: [run(threads: threads, blocks: 15_000, peak: 0)])
      #expect(part.sites.changes.count == expected && part.remarks.isEmpty == (threads == 1))
      let peak = try RunComparison.report(
        old: [run(threads: threads, blocks: 1, peak: 0)], new: [run(threads: threads, blocks: 1, peak: 2_000)])
      #expect(peak.totals.contains { $0.direction != .same } == (expected == 1))
    }
    let several = try RunComparison.report(
      old: (0..<4).map { _ in run(threads: 4, blocks: 10_000, peak: 0) },
      new: (0..<4).map { _ in run(threads: 4, blocks: 15_000, peak: 0) })
    #expect(several.sites.changes.count == 1)
  }

  @Test func queuedBlocksOfAThreadedProgramNeedFourRunsPerSide() throws {
    func run(threads: Int, links: UInt64) -> RunDigest {
      var digest = RunDigest.make { run in
        run.site("calloc", ["_dispatch_continuation_alloc_from_heap", "enqueue()", "main"], blocks: links, live: links)
        run.site("App.Rest", ["rest()", "main"], blocks: 400, live: 400)
      }
      digest.busyThreads = threads
      return digest
    }
    for (threads, runs, expected) in [(1, 1, 1), (4, 1, 0), (4, 3, 0), (4, 4, 1)] {
      func side(_ links: UInt64) -> [RunDigest] { Array(repeating: run(threads: threads, links: links), count: runs) }
      let report = try RunComparison.report(old: side(10), new: side(110))
      #expect(
        report.sites.changes.count == expected && report.types.changes.count == expected,
        "\(threads) threads, \(runs) runs")
    }
  }

  @Test func queueLinksAreIgnoredWhicheverFunctionEnqueues() throws {
    func run(_ links: UInt64) -> RunDigest {
      var digest = RunDigest.make { run in
        run.site(QueueLinks.name, ["send()", "main"], blocks: links, live: links)
        run.site("calloc", ["send()", "main"], blocks: 100, live: 100)
        run.site("App.Rest", ["rest()", "main"], blocks: 400, live: 400)
      }
      digest.busyThreads = 4
      return digest
    }
    let report = try RunComparison.report(old: [run(10)], new: [run(110)])
    #expect(report.sites.changes.isEmpty && report.types.changes.isEmpty)
  }

  @Test func runLoopProgramIsJudgedLikeAThreadedProgram() throws {
    func run(_ blocks: UInt64, hasRunLoop: Bool?) -> RunDigest {
      var digest = RunDigest.make { run in
        run.site("App.Tick", ["tick()", "main"], blocks: blocks)
        run.site("App.Rest", ["rest()", "main"], blocks: 2_000)
      }
      digest.hasRunLoop = hasRunLoop
      return digest
    }
    for (hasRunLoop, expected) in [(nil, 1), (false, 1), (true, 0)] as [(Bool?, Int)] {
      let report = try RunComparison.report(
        old: [run(100, hasRunLoop: hasRunLoop)], new: [run(160, hasRunLoop: hasRunLoop)])
      #expect(report.sites.changes.count == expected)
      #expect(report.remarks.contains { $0.hasPrefix("a run loop") } == (hasRunLoop == true))
    }
  }

  @Test func lightRecordingsCompareOnlyLiveFigures() throws {
    // Each of several images of one heap records every block again.
    func run(images: UInt64, live: UInt64) -> RunDigest {
      var digest = RunDigest.make { $0.site("App.Node", [], blocks: images * live, live: live) }
      digest.isLight = true
      return digest
    }
    let same = try RunComparison.report(old: [run(images: 2, live: 500)], new: [run(images: 20, live: 500)])
    #expect(same.types.changes.isEmpty && same.sites.changes.isEmpty)
    #expect(same.totals.map(\.figure) == [.liveBytes, .liveBlocks] && same.totals.allSatisfy { $0.direction == .same })
    let more = try RunComparison.report(old: [run(images: 20, live: 500)], new: [run(images: 2, live: 5_000)])
    #expect(more.types.changes.first?.figures.first { $0.figure == .liveBlocks }?.direction == .worse)
  }

  @Test func runLoopProgramsHaveALargerTolerance() {
    func direction(_ tolerance: FigureTolerance, _ figure: Figure, _ old: Double, _ new: Double)
      -> FigureChange.Direction
    {
      FigureJudgement(tolerance: tolerance).change(figure, old: [old], new: [new]).direction
    }
    #expect(direction(.standard, .temporaryBlocks, 443, 233) == .better)
    #expect(direction(.runLoop, .temporaryBlocks, 443, 233) == .same)
    #expect(direction(.runLoop, .temporaryBlocks, 44_300, 60_000) == .worse)
    #expect(direction(.runLoop, .liveBlocks, 443, 203) == .better)
    #expect(direction(.timeDependent, .liveBlocks, 337, 220) == .same)
  }

  @Test func retainedBytesOfASuspicionMayDifferByAFewBlocks() {
    let judgement = FigureJudgement()
    func direction(_ old: Double, _ new: Double, block: Double) -> FigureChange.Direction {
      judgement.change(.retainedBytes, old: [old], new: [new], blockSize: block).direction
    }
    #expect(direction(7_997, 8_560, block: 57) == .same)
    #expect(direction(7_997, 16_000, block: 57) == .worse)
    #expect(direction(800_000, 880_000, block: 57) == .worse)
    // Lost memory is compared to the last block, so any increase counts.
    #expect(direction(7_997, 8_560, block: 0) == .worse)
  }

  @Test func oneMoreLargeBlockIsNotAChange() throws {
    func run(_ buffers: UInt64, size: UInt64 = 32_768) -> RunDigest {
      RunDigest.make { run in
        run.site("malloc", ["readDirectory()", "main"], blocks: buffers, size: size)
        run.site("App.Rest", ["rest()", "main"], blocks: 3_000)
      }
    }
    func direction(_ old: RunDigest, _ new: RunDigest) throws -> FigureChange.Direction? {
      try RunComparison.report(old: [old], new: [new]).totals.first { $0.figure == .allocatedBytes }?.direction
    }
    #expect(try direction(run(5), run(6)) == .same)
    #expect(try direction(run(20), run(40)) == .worse)
    #expect(try direction(run(5), run(5, size: 65_536)) == .worse)
    #expect(try direction(run(10), run(9, size: 65_536)) == .worse)
  }

  @Test func differenceWithinTheSpreadIsNotAChange() {
    #expect(direction([100_000, 130_000, 115_000], [125_000, 140_000, 150_000]) == .same)
    #expect(direction([100_000, 101_000, 102_000], [120_000, 121_000, 122_000]) == .worse)
    // The ranges do not overlap, but the gap is smaller than the variation between runs.
    #expect(direction([100_000, 120_000], [125_000, 145_000]) == .same)
    #expect(
      direction([100_000, 102_000, 104_000, 106_000, 108_000], [115_000, 117_000, 119_000, 121_000, 123_000]) == .worse)
  }

  @Test func overlappingSpreadsAreNeverAChange() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<500 {
      let values = (0..<8).map { _ in Double(Int.random(in: 90_000...110_000, using: &random)) }
      let old = Array(values[..<4])
      let new = Array(values[4...])
      if old.max()! >= new.min()! && new.max()! >= old.min()! { #expect(direction(old, new) == .same) }
    }
  }

  @Test func figuresProportionalToTheWorkAreExpected() {
    let judgement = FigureJudgement(work: ([100], [300]))
    #expect(judgement.change(.retains, old: [10_000], new: [30_000]).direction == .same)
    #expect(judgement.change(.retains, old: [10_000], new: [45_000]).direction == .worse)
    #expect(judgement.change(.retains, old: [10_000], new: [15_000]).direction == .better)
    // These figures do not depend on the amount of work.
    #expect(judgement.change(.instances, old: [1], new: [1]).direction == .same)
    #expect(judgement.change(.instances, old: [100], new: [300]).direction == .same)
    #expect(judgement.change(.instances, old: [100], new: [301]).direction == .same)
    #expect(judgement.change(.instances, old: [100], new: [400]).direction == .worse)
  }

  @Test func figurePerEventMayBePartlyFixed() {
    let judgement = FigureJudgement(work: ([100], [300]), isWorkDerived: true)
    #expect(judgement.change(.retains, old: [10_000], new: [10_000]).direction == .same)
    #expect(judgement.change(.retains, old: [10_000], new: [20_000]).direction == .same)
    #expect(judgement.change(.retains, old: [10_000], new: [30_000]).direction == .same)
    #expect(judgement.change(.retains, old: [10_000], new: [45_000]).direction == .worse)
    #expect(judgement.change(.retains, old: [10_000], new: [5_000]).direction == .better)
    let less = FigureJudgement(work: ([300], [100]), isWorkDerived: true)
    #expect(less.change(.retains, old: [30_000], new: [20_000]).direction == .same)
    #expect(less.change(.retains, old: [30_000], new: [45_000]).direction == .worse)
  }

  @Test func expectedSumOfAThreadedProgramIncludesQueueLinks() throws {
    func run(_ links: UInt64) -> RunDigest {
      var digest = RunDigest.make { run in
        run.site("calloc", ["_dispatch_continuation_alloc_from_heap", "enqueue()", "main"], blocks: links, live: links)
        run.site("App.Rest", ["rest()", "main"], blocks: 400, live: 400)
      }
      digest.busyThreads = 4
      return digest
    }
    let report = try RunComparison.report(old: [run(1_000)], new: [run(1_000)], unit: .events)
    #expect(report.totals.allSatisfy { $0.expected == $0.new.median && $0.direction == .same })
  }

  @Test func fewLargeBlocksFromAnotherFunctionAreNotAChangeInThreadedPrograms() throws {
    func run(_ large: UInt64, threads: Int) -> RunDigest {
      var digest = RunDigest.make { run in
        run.site("malloc", ["grow()", "main"], blocks: large, size: 8192)
        run.site("malloc", ["read()", "main"], blocks: 6 - large, size: 8192)
        run.site("App.Rest", ["rest()", "main"], blocks: 4000)
      }
      digest.busyThreads = threads
      return digest
    }
    #expect(try RunComparison.report(old: [run(5, threads: 4)], new: [run(1, threads: 4)]).sites.summary == [])
    #expect(try !RunComparison.report(old: [run(5, threads: 1)], new: [run(1, threads: 1)]).sites.changes.isEmpty)
  }

  @Test func expectedSumAddsFixedAndProportionalParts() throws {
    func run(_ requests: UInt64, each: UInt64) -> RunDigest {
      var digest = RunDigest.make { run in
        run.site("App.Node", ["start()", "main"], blocks: 10_000)
        run.site("App.Node", ["handle()", "main"], blocks: requests * each)
      }
      digest.scopes = ["request": requests]
      return digest
    }
    let same = try RunComparison.report(old: [run(100, each: 50)], new: [run(300, each: 50)], unit: .scope("request"))
    #expect(
      same.types.changes.isEmpty && same.sites.changes.isEmpty && same.totals.allSatisfy { $0.direction == .same })
    let worse = try RunComparison.report(old: [run(100, each: 50)], new: [run(300, each: 80)], unit: .scope("request"))
    #expect(worse.types.changes.map(\.kind) == [.worse] && worse.sites.changes.map(\.kind) == [.worse])
    #expect(worse.totals.first { $0.figure == .allocatedBlocks }?.direction == .worse)
    #expect(throws: RunComparison.Failure.scopeMissing(name: "page", path: "/tmp/run.trace", known: ["request"])) {
      _ = try RunComparison.report(old: [run(1, each: 1)], new: [run(1, each: 1)], unit: .scope("page"))
    }
  }
}
