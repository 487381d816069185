// The reference counts of a heap image, compared with the sums of the trace's events.

import HeapAnalysis
import LeakDetection
import TraceReading
import TraceSymbolication

/// How the live objects of a trace compare.
struct CountedObjects: Sendable {
  struct Difference: Hashable, Sendable {
    var type: String
    /// What `history` says to it.
    var gaps: [String]
  }

  var equal = 0
  /// Objects whose strong references are others than their count.
  var differences: [Difference] = []
  /// Types of objects with as many strong references as counted, but not as many unowned ones.
  var unownedDifferences: Set<String> = []
  /// Types of objects that the image has no count of.
  var uncounted: Set<String> = []

  init(trace path: String) throws {
    let reader = try TraceReader(path: path)
    guard let snapshot = reader.snapshots.last(where: \.isWhole) else { throw CommandFailure("no heap image") }
    let allocations = AllocationAnalysis(reader, snapshot: snapshot)
    let balances = RetainBalances.at(snapshot, in: reader)
    var diagnostics = TraceDiagnostics()
    let image = HeapAnalysis.HeapImage(snapshot, in: reader, diagnostics: &diagnostics)
    let history = HistoryAnalysis(reader, allocations, snapshot: snapshot, naming: OffsetNaming())
    for block in allocations.blocksAtSnapshot {
      let site = allocations.sites[Int(block.site.rawValue)]
      guard site.operation == .object, let balance = balances[RuntimeAddress(block.address)] else { continue }
      let type = allocations.typeName(of: site)
      guard let count = ObjectGraph.referenceCount(of: block.address, in: image) else {
        uncounted.insert(type)
        continue
      }
      if balance.comparison(with: count) == .equal {
        equal += 1
        if balance.unownedComparison(with: count) != .equal { unownedDifferences.insert(type) }
      } else {
        let gaps = history.report(.address(RuntimeAddress(block.address)))?.gaps.filter(\.isIncomplete).map(\.key) ?? []
        differences.append(Difference(type: type, gaps: gaps))
      }
    }
  }
}
