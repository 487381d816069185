// Compares the reference counts in a heap image with the sums of the trace's events.

import HeapAnalysis
import TraceTestSupport
@testable import LeakDetection
import TraceReading
import TraceSymbolication

/// The result of the comparison for the live objects of a trace.
struct CountedObjects: Sendable {
  struct Difference: Hashable, Sendable {
    var type: String
    /// The gaps that `history` reports for the object.
    var gaps: [String]
  }

  var equal = 0
  /// Objects whose sum of strong references differs from their count.
  var differences: [Difference] = []
  /// Types of objects whose strong references agree with the count, but whose unowned references do not.
  var unownedDifferences: Set<String> = []
  /// Types of objects whose counts are not in the image.
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
        if !balance.hasEqualUnowned(count) { unownedDifferences.insert(type) }
      } else {
        let gaps = history.report(.address(RuntimeAddress(block.address)))?.gaps.filter(\.isIncomplete).map(\.key) ?? []
        differences.append(Difference(type: type, gaps: gaps))
      }
    }
  }
}

extension ReferenceBalance {
  /// Returns whether the number of unowned references equals the count in memory. All strong references together hold
  /// one unowned reference, which is released with the last strong reference.
  fileprivate func hasEqualUnowned(_ count: ReferenceCount) -> Bool {
    !count.isImmortal && (strong <= 0 ? unowned - 1 : unowned) == Int64(count.unowned)
  }
}
