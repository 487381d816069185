// Findings and comparisons made by hand.

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
    var finding = Finding(
      verdict: verdict, libraryReason: library ? "a library made it" : nil, isCycle: verdict == .retainCycle,
      instances: instances,
      retainedBytes: ByteCount(bytes), retainedBlocks: blocks, path: [step], held: [], referenceCount: nil, ending: nil,
      advice: [],
      fingerprint: fingerprint(number), suppression: suppression)
    if let growth {
      finding.outliving = Finding.Outliving(
        origin: PathOrigin(kind: .global, name: "global"), holder: "static Cache.all", registration: nil, suspect: 0,
        births: 100, deaths: 50, scope: nil, scopeShare: 0, siblingLifetime: nil,
        youngest: nil, oldest: nil, growth: growth)
    }
    return finding
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
