// An invented comparison for tests of formats.

@testable import LeakDetection
@testable import LeakGates
@testable import RunDiff

enum ExampleDiff {
  static func figure(_ figure: Figure, _ old: Double, _ new: Double, expected: Double? = nil, width: Double = 0)
    -> FigureChange
  {
    let expected = expected ?? old
    return FigureChange(
      figure: figure, old: Spread(lowest: old - width, median: old, highest: old + width),
      new: Spread(lowest: new - width, median: new, highest: new + width),
      expected: expected, direction: new > expected ? .worse : new < expected ? .better : .same)
  }

  static func change(_ kind: DiffKind, _ finding: Finding, match: DiffMatch? = nil, _ figures: [FigureChange] = [])
    -> FindingChange
  {
    FindingChange(
      kind: kind, old: kind == .new ? nil : finding, new: kind == .gone ? nil : finding, match: match, figures: figures,
      oldRuns: kind == .new ? 0 : 2,
      newRuns: kind == .gone ? 0 : 1)
  }

  static func site(
    _ kind: DiffKind, _ name: String, match: DiffMatch? = nil, frames: [DiffFrame] = [], _ figures: [FigureChange]
  ) -> AllocationChange {
    AllocationChange(kind: kind, name: name, oldName: nil, frames: frames, match: match, figures: figures, weight: 0.5)
  }

  /// A comparison of light recordings.
  static var lightReport: DiffReport {
    var report = report
    report.listsHolders = true
    (report.old.kind, report.new.kind) = (.light, .light)
    let live = figure(.liveBytes, 4 * 1_048_576, 24 * 1_048_576)
    var allocated = figure(.allocatedBytes, 30 * 1_048_576, 33 * 1_048_576)
    allocated.direction = .same
    report.estimatedSites = DiffSection(
      changes: [
        EstimatedSiteChange(
          kind: .worse,
          frames: [
            DiffFrame(function: "fill(_:)", stableName: "fill(_:)", file: "/src/Cache.swift", line: 7),
            DiffFrame(function: "main", stableName: "main"),
          ], match: .exact,
          figures: [
            EstimateChange(change: live, oldError: 1_468_006, newError: 3_670_016),
            EstimateChange(change: allocated, oldError: 4_194_304, newError: 4_194_304),
          ], weight: 0.25)
      ], unchanged: 41, moved: 1, unsteady: 0)
    return report
  }

  static var report: DiffReport {
    let rename = DiffRename(old: "App.Cache", new: "App.Store<Int>")
    let grown = figure(.instances, 2, 5)
    return DiffReport(
      old: DiffSide(
        program: "/old/app",
        runs: [.init(path: "a.trace", events: 1000, work: 1), .init(path: "b.trace", events: 1200, work: 1)]),
      new: DiffSide(program: "/new/app", runs: [.init(path: "c.trace", events: 1500, work: 1)]), unit: .run,
      totals: [
        figure(.liveBytes, 1_048_576, 1_048_576), figure(.retains, 120_000, 180_000, width: 500),
        figure(.allocatedBytes, 4096, 2048),
      ],
      findings: DiffSection(
        changes: [
          change(.new, ExampleFindings.cycle()),
          change(.worse, ExampleFindings.outlived(), match: .likeness(["the type was Session"]), [grown]),
          change(.gone, ExampleFindings.lost()),
        ], unchanged: 12, moved: 2, unsteady: 1),
      findingsUnavailable: nil,
      types: DiffSection(
        changes: [
          site(
            .worse, "App.Store<Int>", match: .renamed([rename]),
            [figure(.liveBytes, 4096, 8192), figure(.liveBlocks, 10, 10)])
        ], unchanged: 40, moved: 1,
        unsteady: 0),
      sites: DiffSection(
        changes: [
          site(
            .new, "App.Image",
            frames: [DiffFrame(function: "load(_:)", stableName: "load(_:)", file: "/src/Image.swift", line: 7)],
            [figure(.liveBytes, 0, 640), figure(.liveBlocks, 0, 10), figure(.retains, 0, 0)]),
          site(.gone, "malloc", [figure(.allocatedBlocks, 70, 0)]),
        ], unchanged: 90, moved: 0, unsteady: 0),
      renames: [rename], remarks: ["one side has a single run, so its spread is not known"],
      judged: [
        JudgedFinding(ExampleFindings.cycle(), .new),
        JudgedFinding(ExampleFindings.outlived(), .worse("instances 2 → 5")),
        JudgedFinding(ExampleFindings.usedAfterEnd(), .known(reason: "")),
      ])
  }
}
