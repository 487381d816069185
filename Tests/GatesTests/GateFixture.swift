// Invented findings and comparisons.

@testable import LeakDetection
@testable import LeakGates
@testable import RunDiff
@testable import TraceReading

enum GateFixture {
  static func finding(
    _ number: UInt64, _ verdict: Verdict = .retainCycle, type: String = "Node", instances: Int = 1, bytes: UInt64 = 64,
    blocks: UInt64 = 1,
    growth: [Int]? = nil,
    library: Bool = false, suppression: String? = nil
  ) -> Finding {
    let step = Finding.Step(
      kind: .object, type: type, qualifiedType: "App.\(type)", function: nil, allocation: nil, stack: .empty,
      address: RuntimeAddress(16), size: ByteCount(64),
      reference: nil)
    return Finding(
      evidence: evidence(verdict, growth: growth ?? []),
      owner: library ? .library(reason: "a library made it") : .program,
      instances: instances, retainedBytes: ByteCount(bytes), retainedBlocks: blocks, path: [step],
      fingerprint: fingerprint(number), suppression: suppression)
  }

  /// Returns evidence. `strength`: the strength of a suspicion.
  static func evidence(_ verdict: Verdict, growth: [Int], strength: Finding.Strength? = nil) -> Finding.Evidence {
    let retention = Finding.Retention(
      origin: PathOrigin(kind: .global, name: "global"), holder: "static Cache.all", registration: nil, suspect: 0)
    let siblings = Finding.Siblings(births: 100, deaths: 50, scope: nil, scopeShare: 0, lifetime: nil)
    func suspected(_ kind: Finding.Suspicion.Kind) -> Finding.Evidence {
      .suspected(
        .init(kind: kind, figures: strength.map { .init(strength: $0, live: []) }),
        .init(retention: retention, siblings: siblings, quarters: growth))
    }
    return switch verdict {
    case .retainCycle: .unreachable(.cycle, way: nil)
    case .lost: .unreachable(.lost(nil), way: nil)
    case .suspended: .unreachable(.suspended(.alone(nil)), way: nil)
    case .deinitialised: .deinitialised(nil)
    case .dangling: .dangling(nil)
    case .outlived: suspected(.outlived)
    case .accumulating: suspected(.accumulating)
    case .growing:
      .repeated(
        Finding.Rounds(place: MarkPlace(name: "work", file: "", line: 0), first: 2, measure: .objects, counts: growth),
        retention, siblings)
    }
  }

  static func fingerprint(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  static func change(
    _ figure: Figure, from old: Double, to new: Double, _ direction: FigureChange.Direction? = nil, spread: Double = 0
  ) -> FigureChange {
    func values(_ value: Double) -> Spread { Spread(lowest: value - spread, median: value, highest: value + spread) }
    return FigureChange(
      figure: figure, old: values(old), new: values(new), expected: old,
      direction: direction ?? (new > old ? .worse : new < old ? .better : .same))
  }

  static func report(totals: [FigureChange], judged: [JudgedFinding] = [], changes: [FindingChange]? = []) -> DiffReport
  {
    let side = DiffSide(program: "app", runs: [])
    let none = DiffSection<AllocationChange>(changes: [], unchanged: 0, moved: 0, unsteady: 0)
    return DiffReport(
      old: side, new: side, unit: .run, totals: totals,
      findings: changes.map { DiffSection(changes: $0, unchanged: 0, moved: 0, unsteady: 0) },
      findingsUnavailable: changes == nil ? "the old build's trace has no heap image" : nil, types: none, sites: none,
      renames: [], remarks: [],
      judged: judged)
  }
}
