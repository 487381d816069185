// Judges whether counts after each round of repeated work prove growth.

/// The counts after each round, beginning with the last warm-up round.
struct RoundCounts: Hashable {
  var counts: [UInt64]

  /// Minimum growth in the later half of the counted rounds, as a share of the growth in the earlier half. A cache that
  /// fills up adds less and less. A leak adds as much as before, except for the little work that is still in progress
  /// when a round ends.
  private static let minPersistence = 0.9
  /// The minimum growth in each round, as a share of the largest growth in a round. It applies if only counts are
  /// known. Numbers that change by chance may rise four times in a row, but hardly by equal steps.
  private static let minEvenness = 0.5

  /// The increase in each counted round; nil if one of them added nothing.
  private var steps: [UInt64]? {
    guard counts.count > Repetition.minCountedRounds else { return nil }
    var steps: [UInt64] = []
    for (before, after) in zip(counts, counts.dropFirst()) {
      guard after > before else { return nil }
      steps.append(after - before)
    }
    return steps
  }

  /// True if each round added something, and the later rounds added about as much as the earlier rounds.
  var grows: Bool {
    guard let steps else { return false }
    let half = steps.count / 2
    let earlier = steps.prefix(half).reduce(0.0) { $0 + Double($1) }
    let later = steps.suffix(half).reduce(0.0) { $0 + Double($1) }
    return later >= Self.minPersistence * earlier
  }

  /// True if the counts grow by about the same amount in each round.
  var growsEvenly: Bool {
    guard grows, let steps, let least = steps.min(), let most = steps.max() else { return false }
    return Double(least) >= Self.minEvenness * Double(most)
  }
}
