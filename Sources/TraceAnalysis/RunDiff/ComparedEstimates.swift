// The estimated sites of one side's runs, in one list.

import AllocationReports
import TraceReading

/// Merges sites that are equal by name. Each site has one estimate per run. The estimate is zero if the run has no
/// sample of the site.
struct ComparedEstimates {
  struct Entry {
    /// The program's functions on the stack, innermost first. If it has none, the platform's functions.
    var functions: [Int32]
    /// The estimates of live bytes, one for each run.
    var live: [ByteEstimate]
    var allocated: [ByteEstimate]
    /// The source of the frames: the index of a run, and the index of the estimate in that run.
    var run: Int
    var number: Int

    subscript(figure: Figure) -> [ByteEstimate] { figure == .liveBytes ? live : allocated }

    var item: NamedItem {
      let middle = Spread(allocated.map { Double($0.bytes) }).median
      return NamedItem(parts: { name in (functions.map(name), functions) }, amount: middle)
    }
  }

  /// The figures that samples estimate.
  static let figures: [Figure] = [.liveBytes, .allocatedBytes]

  private(set) var entries: [Entry] = []
  /// The sum over all stacks, including unknown ones, in the run with the largest sum.
  private(set) var wholes: [Figure: Double] = [:]

  /// Linear in the functions of all stacks.
  init(_ runs: [RunDigest], _ vocabulary: Vocabulary, side: Vocabulary.Side) {
    let none = runs.map { _ in ByteEstimate(bytes: 0, error: 0) }
    var places: [[Int32]: Int] = [:]
    for (run, digest) in runs.enumerated() {
      let frames = digest.frames.map { vocabulary.number(of: $0.stableName, on: side) }
      for (number, estimate) in (digest.estimates ?? []).enumerated() {
        let callers = ComparedSites.functions(estimate.stack, digest, frames)
        let functions = ComparedSites.functions(
          innermost: estimate.innermost >= 0 ? frames[Int(estimate.innermost)] : nil, callers)
        if functions.isEmpty { continue }
        let place = places[functions] ?? entries.count
        if place == entries.count {
          places[functions] = place
          entries.append(Entry(functions: functions, live: none, allocated: none, run: run, number: number))
        }
        entries[place].live[run] = entries[place].live[run] + estimate.live
        entries[place].allocated[run] = entries[place].allocated[run] + estimate.allocated
      }
    }
    for figure in Self.figures {
      wholes[figure] = runs.map { run in (run.estimates ?? []).reduce(0) { $0 + Double($1[figure].bytes) } }.max()
    }
  }
}
