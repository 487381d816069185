// The heap images that were taken when an object was not gone in time.

import TraceReading

extension LeakAnalysis {
  /// Findings of expectations that were not met, each from the image of the time at which that was noticed, as far as
  /// there are such images: what held the object then may have let go since. For each image the trace is replayed once
  /// more.
  ///
  /// `analysis` is that of the report's snapshot, which says what came of the expectations in the end; `open` makes an
  /// analysis of another snapshot.
  package static func findingsAtExpectations(
    _ reader: TraceReader, _ analysis: AllocationAnalysis, open: (TraceSnapshot) -> LeakAnalysis
  ) -> [Finding] {
    let broken = analysis.statements.expectations.filter { $0.violated + $0.late > 0 }
    var chosen: [UInt32: Set<MarkPlace>] = [:]
    for outcome in broken {
      // Any image from the deadline on shows it; the first is nearest to it.
      let first = reader.snapshots.first { snapshot in
        snapshot.reason == .expectation && snapshot.isWhole
          && outcome.rest.contains { $0.deadline <= snapshot.time && ($0.end ?? .max) > snapshot.time }
      }
      if let first { chosen[first.number, default: []].insert(outcome.place) }
    }
    // Each takes a replay: as many as the file pays for.
    return chosen.sorted { $0.key < $1.key }.prefix(reader.replays(blocks: analysis.blocksAtSnapshot.count)).flatMap {
      number, places -> [Finding] in
      guard let snapshot = reader.snapshots.first(where: { $0.number == number }) else { return [] }
      return open(snapshot).expectationFindings(broken, places: places).map { finding in
        var finding = finding
        finding.outliving?.snapshot = number
        return finding
      }
    }
  }
}
