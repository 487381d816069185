// The heap images that were taken when an object was not gone in time.

import TraceReading

/// Findings of expectations that were not met. The findings of a place come from the first image that was taken at one
/// of its deadlines. In a later image, the holder of an object may have released the object.
///
/// One such image is taken for each place, at its first deadline that passed. Chance decides which of the later objects
/// the image shows. `completed(by:)` adds the other objects, so that counts do not depend on the moment.
package struct ExpectationImages {
  private var findings: [Finding] = []
  /// By place: the time, in ticks, of the image that shows the holders.
  private var times: [MarkPlace: UInt64] = [:]

  /// Has no findings.
  package init() {}

  /// Replays the trace once more for each image. `analysis`: the analysis of the report's snapshot, with the final
  /// outcomes of the expectations. `open`: returns the analysis of another snapshot.
  package init(_ reader: TraceReader, _ analysis: AllocationAnalysis, open: (TraceSnapshot) -> LeakAnalysis) {
    let broken = analysis.statements.expectations.filter { $0.violated + $0.late > 0 }
    var chosen: [UInt32: Set<MarkPlace>] = [:]
    for outcome in broken {
      // Any image from the deadline on shows the object. The first one is nearest to the deadline.
      let first = reader.snapshots.first { snapshot in
        snapshot.reason == .expectation && snapshot.isWhole
          && outcome.rest.contains { $0.deadline <= snapshot.time && ($0.end ?? .max) > snapshot.time }
      }
      if let first { chosen[first.number, default: []].insert(outcome.place) }
    }
    // Each image takes a replay. The size of the file limits the number of replays.
    for (number, places) in chosen.sorted(by: { $0.key < $1.key })
      .prefix(reader.replays(blocks: analysis.blocksAtSnapshot.count))
    {
      guard let snapshot = reader.snapshots.first(where: { $0.number == number }) else { continue }
      for finding in open(snapshot).expectationFindings(broken, places: places) {
        findings.append(finding)
        if let place = finding.expectation { times[place] = snapshot.time }
      }
    }
  }

  /// The places that have findings.
  package var places: Set<MarkPlace> { Set(times.keys) }

  /// Returns findings of all objects of these places that were not gone in time. `analysis`: the analysis of the
  /// report's image, which shows objects that became due after the images of the deadlines.
  package func completed(by analysis: LeakAnalysis) -> [Finding] {
    guard !times.isEmpty else { return [] }
    var completed = findings
    for later in analysis.expectationFindings(dueAfter: times) {
      if let known = completed.firstIndex(where: { $0.fingerprint == later.fingerprint }) {
        completed[known].add(later)
      } else {
        completed.append(later)
      }
    }
    for outcome in analysis.model.statements.expectations {
      guard let time = times[outcome.place] else { continue }
      addUnseen(of: outcome, imageTime: time, to: &completed)
    }
    return completed
  }

  /// Adds objects that ended late and are in none of the images, so that their holder is not known. If all shown
  /// objects have one holder, the unseen objects count for this holder.
  private func addUnseen(of outcome: ExpectationOutcome, imageTime: UInt64, to findings: inout [Finding]) {
    let unseen = outcome.rest.filter { rest in
      guard let end = rest.end else { return false }
      return rest.deadline > imageTime || end <= imageTime
    }
    let own = findings.indices.filter { findings[$0].expectation == outcome.place }
    guard !unseen.isEmpty, own.count == 1, let only = own.first,
      findings[only].instances == outcome.rest.count - unseen.count
    else { return }
    findings[only].instances += unseen.count
    findings[only].retainedBlocks &+= UInt64(unseen.count)
    for rest in unseen { findings[only].retainedBytes.rawValue &+= rest.block.size }
  }
}
