// Comparisons of the estimates of light recordings.

import Foundation
import TestRequirements
import Testing
import TraceTestSupport

@testable import AllocationReports
@testable import LeakDetection
@testable import LeakGates
@testable import RunDiff

@Suite struct EstimateDiffTests {
  private static let period = 512.0 * 1024
  private static let mebibyte = 1024.0 * 1024

  /// Returns an estimate of bytes in small blocks, and its error. Each sample represents one period.
  private static func small(_ megabytes: Double) -> (Double, Double) {
    let bytes = megabytes * mebibyte
    return (bytes, (bytes / period).squareRoot() * period)
  }

  /// Returns a run with one given site, and others that are equal in all runs.
  private static func run(_ functions: [String], live: Double, allocated: Double) -> RunDigest {
    RunDigest.make { run in
      run.estimate(functions, live: small(live), allocated: small(allocated))
      run.estimate(["rest()", "main"], live: small(200), allocated: small(900))
    }
  }

  private static func summary(_ report: DiffReport) -> [String] {
    (report.estimatedSites?.changes ?? []).map { change in
      let figures = change.figures.filter { $0.change.direction != .same }.map(\.change.figure.rawValue)
      return "\(change.kind.rawValue) \(change.name) \(figures.joined(separator: ","))"
    }
  }

  @Test func samplingErrorIsNotAChange() throws {
    func changes(_ old: Double, _ new: Double) throws -> [String] {
      Self.summary(
        try RunComparison.report(
          old: [Self.run(["fill()", "main"], live: old, allocated: 500)],
          new: [Self.run(["fill()", "main"], live: new, allocated: 500)]))
    }
    #expect(try changes(20, 20) == [])
    // The changes are two or three samples, and an increase by half.
    #expect(try changes(1, 2.5) == [] && changes(20, 30) == [])
    #expect(try changes(20, 60) == ["worse fill() liveBytes"])
    #expect(try changes(60, 20) == ["better fill() liveBytes"])
  }

  @Test func largeSiteWithSamplesOnOneSideIsNewOrGone() throws {
    let without = RunDigest.make { $0.estimate(["rest()", "main"], live: Self.small(200), allocated: Self.small(900)) }
    func changes(_ megabytes: Double, isNew: Bool) throws -> [String] {
      let with = Self.run(["fill()", "main"], live: megabytes, allocated: megabytes)
      return Self.summary(
        try RunComparison.report(old: [isNew ? without : with], new: [isNew ? with : without]))
    }
    #expect(try changes(10, isNew: true) == [])
    #expect(try changes(40, isNew: true) == ["new fill() liveBytes,allocatedBytes"])
    #expect(try changes(40, isNew: false) == ["gone fill() liveBytes,allocatedBytes"])
  }

  /// A block of 2 MiB is missed once in 55 times. In both cases the estimate claims to be nearly exact.
  @Test func unsampledBlockIsNotAChange() throws {
    let size = 2 * Self.mebibyte
    let missed = exp(-size / Self.period)
    let met = (size / (1 - missed), missed.squareRoot() / (1 - missed) * size)
    func run(_ value: (Double, Double)) -> RunDigest {
      RunDigest.make { run in
        run.estimate(["load()", "main"], live: value, allocated: value)
        run.estimate(["rest()", "main"], live: Self.small(20), allocated: Self.small(20))
      }
    }
    #expect(met.1 < size / 5)
    #expect(Self.summary(try RunComparison.report(old: [run((0, 0))], new: [run(met)])) == [])
    #expect(Self.summary(try RunComparison.report(old: [run(met)], new: [run((0, 0))])) == [])
    // It practically never happens that all of sixteen such blocks are missed.
    let many = (met.0 * 16, met.1 * 4)
    #expect(!Self.summary(try RunComparison.report(old: [run((0, 0))], new: [run(many)])).isEmpty)
  }

  @Test func smallShareOfTheTotalIsNotAChange() throws {
    func run(_ megabytes: Double, whole: Double) -> RunDigest {
      RunDigest.make { run in
        run.estimate(["fill()", "main"], live: Self.small(megabytes), allocated: Self.small(megabytes))
        run.estimate(["rest()", "main"], live: Self.small(whole), allocated: Self.small(whole))
      }
    }
    let large = try RunComparison.report(old: [run(20, whole: 10_000)], new: [run(80, whole: 10_000)])
    #expect(Self.summary(large) == [])
    let every = try RunComparison.report(
      old: [run(20, whole: 10_000)], new: [run(80, whole: 10_000)], tolerance: FigureTolerance.none)
    #expect(Self.summary(every) == ["worse fill() liveBytes,allocatedBytes"])
  }

  /// Samples are drawn as a recorder draws them, from equal blocks in each run.
  @Test(.secondTier) func equalRunsShowNoChangeWhateverIsSampled() throws {
    var random = SeededRandom(seed: 1)
    /// The number and the size of the blocks at each site.
    let sites: [(Int, Double)] = [
      (400_000, 48), (60_000, 1024), (900, 70_000), (60, 524_288), (40, 1.5e6), (12, 3e6), (5, 4.5e6), (1, 2e6),
      (1, 6e6),
      (200_000, 200), (20, 2.2e6), (3, 9e6),
    ]
    /// Draws the number of sampled blocks. Large numbers are drawn from the normal distribution.
    func samples(_ count: Int, _ probability: Double) -> Double {
      if count > 2000 {
        let mean = Double(count) * probability
        // The sum of twelve uniform numbers is nearly normally distributed.
        let normal = (0..<12).reduce(-6.0) { sum, _ in sum + Double.random(in: 0..<1, using: &random) }
        return max(0, (mean + normal * (mean * (1 - probability)).squareRoot()).rounded())
      }
      return Double((0..<count).count { _ in Double.random(in: 0..<1, using: &random) < probability })
    }
    func run() -> RunDigest {
      RunDigest.make { run in
        for (number, (count, size)) in sites.enumerated() {
          let probability = 1 - exp(-size / Self.period)
          let met = samples(count, probability)
          let value = (
            met * size / probability, (met * (1 - probability)).squareRoot() / probability * size
          )
          if met > 0 { run.estimate(["site\(number)()", "main"], live: value, allocated: value) }
        }
      }
    }
    for _ in 0..<2000 {
      let report = try RunComparison.report(old: [run()], new: [run()])
      #expect(Self.summary(report) == [])
    }
  }

  @Test func severalRunsPerSideRevealSmallDifferences() throws {
    func side(_ values: [Double]) -> [RunDigest] {
      values.map { Self.run(["fill()", "main"], live: $0, allocated: 500) }
    }
    func changes(_ old: [Double], _ new: [Double]) throws -> [String] {
      Self.summary(try RunComparison.report(old: side(old), new: side(new)))
    }
    #expect(try changes([40, 44, 42], [140, 150, 145]) == ["worse fill() liveBytes"])
    // The old runs differ from each other by as much.
    #expect(try changes([40, 160, 42], [140, 150, 145]) == [])
    // The change exceeds the spread of the runs, but is within the errors of their samples.
    #expect(try changes([10, 10.1, 10.2], [15, 15.1, 15.2]) == [])
  }

  @Test func errorIsThatOfTheMedian() {
    let judgement = EstimateJudgement(FigureJudgement(), period: 1)
    func error(_ runs: Int) -> Double {
      let estimates = Array(repeating: ByteEstimate(bytes: 1 << 30, error: 1000), count: runs)
      return judgement.change(.liveBytes, old: estimates, new: estimates, whole: 0).oldError
    }
    #expect(error(1) == 1000 && abs(error(2) - 707.1) < 0.1)
    #expect(error(4) > 600 && error(4) < 650)
  }

  @Test func errorsAddUpInQuadrature() {
    let sum = ByteEstimate(bytes: 5, error: 3) + ByteEstimate(bytes: 7, error: 4)
    #expect(sum == ByteEstimate(bytes: 12, error: 5))
    #expect((ByteEstimate(bytes: .max, error: 0) + ByteEstimate(bytes: 1, error: 0)).bytes == .max)
  }

  @Test func sitesWithEqualNamesAreMerged() throws {
    let split = RunDigest.make { run in
      run.estimate(["closure #1 in fill()", "main"], live: Self.small(30), allocated: Self.small(30))
      run.estimate(["closure #2 in fill()", "main"], live: Self.small(30), allocated: Self.small(30))
    }
    let one = RunDigest.make {
      $0.estimate(["closure #3 in fill()", "main"], live: Self.small(60), allocated: Self.small(60))
    }
    let report = try RunComparison.report(old: [split], new: [one])
    #expect(Self.summary(report) == [] && report.estimatedSites?.unchanged == 1)
  }

  @Test func siteWithARenamedFunctionIsMatchedBySimilarity() throws {
    let report = try RunComparison.report(
      old: [Self.run(["Cache.fill()", "serve()", "run()", "main"], live: 80, allocated: 80)],
      new: [Self.run(["Store.put()", "serve()", "run()", "main"], live: 80, allocated: 80)])
    #expect(Self.summary(report) == [] && report.estimatedSites?.moved == 1)
    let grown = try RunComparison.report(
      old: [Self.run(["Cache.fill()", "serve()", "run()", "main"], live: 80, allocated: 80)],
      new: [Self.run(["Store.put()", "serve()", "run()", "main"], live: 400, allocated: 80)])
    #expect(Self.summary(grown) == ["worse Store.put() liveBytes"])
    guard case .likeness? = grown.estimatedSites?.changes.first?.match else {
      Issue.record("\(String(describing: grown.estimatedSites?.changes.first?.match))")
      return
    }
  }

  @Test func unknownStacksAreNotCompared() throws {
    let report = try RunComparison.report(
      old: [Self.run([], live: 10, allocated: 10)], new: [Self.run([], live: 400, allocated: 400)])
    #expect(Self.summary(report) == [] && report.estimatedSites?.unchanged == 1)
  }

  @Test func allRunsMustHaveEstimates() throws {
    let light = Self.run(["fill()", "main"], live: 80, allocated: 80)
    let full = RunDigest.make { $0.site("App.Node", ["fill()", "main"], blocks: 100, live: 100) }
    #expect(try RunComparison.report(old: [light], new: [full]).estimatedSites == nil)
    var older = light
    older.estimates = nil
    #expect(try RunComparison.report(old: [older], new: [light]).estimatedSites == nil)
  }

  @Test func noConditionFailsByEstimates() throws {
    let report = try RunComparison.report(
      old: [Self.run(["fill()", "main"], live: 20, allocated: 20)],
      new: [Self.run(["fill()", "main"], live: 400, allocated: 400)])
    #expect(Self.summary(report) == ["worse fill() liveBytes,allocatedBytes"])
    let gates = try GateList(
      parsing: ["new-leaks,worse,new-suspects,regressions,growth"], for: .comparison)
    #expect(gates.outcomes(report).filter(\.hasFailed).map(\.gate) == [])
  }

  @Test func differentSamplingTimesAreReported() throws {
    func run(_ seconds: Double) -> RunDigest {
      var run = Self.run(["fill()", "main"], live: 20, allocated: 20)
      run.sampledSeconds = seconds
      return run
    }
    func isReported(_ old: Double, _ new: Double) throws -> Bool {
      try RunComparison.report(old: [run(old)], new: [run(new)]).remarks.contains { $0.hasPrefix("samples were taken") }
    }
    #expect(try isReported(600, 3600) && isReported(3600, 600))
    #expect(try !isReported(600, 610) && !isReported(1, 20))
  }

  // MARK: Digests

  @Test func digestKeepsEstimates() throws {
    let digest = Self.run(["fill()", "main"], live: 20, allocated: 30)
    #expect(try DigestFile.digest(DigestFile.bytes(digest)) == digest)
    var both = digest
    both.add(digest)
    let report = try RunComparison.report(old: [digest], new: [both])
    #expect(report.estimatedSites?.changes.first { $0.name == "rest()" }?.kind == .worse)
    #expect(both.estimates?.count == 4 && both.frames(of: both.estimates![2]).map(\.function) == ["fill()", "main"])
  }

  @Test(
    arguments: [
      { $0.estimates![0].stack = 99 }, { $0.estimates![0].innermost = 99 }, { $0.estimates![0].innermost = -2 },
      { $0.estimates![0].live.error = -1 },
    ] as [@Sendable (inout RunDigest) -> Void])
  func digestWithInvalidIndicesIsRejected(_ damage: @Sendable (inout RunDigest) -> Void) throws {
    var digest = Self.run(["fill()", "main"], live: 20, allocated: 30)
    damage(&digest)
    let bytes = try DigestFile.bytes(digest)
    #expect(throws: DigestFile.Failure.self) { try DigestFile.digest(bytes) }
  }
}
