// Which findings are the same though something of their path differs.

/// Matches findings that no name makes equal: with the same types along the path, all but one held by fields of the same names, and
/// allocated on like ways.
struct FindingLikeness {
  private let vocabulary: Vocabulary

  init(_ vocabulary: Vocabulary) { self.vocabulary = vocabulary }

  struct Pair {
    var old: Int
    var new: Int
    var differences: [String]
  }

  /// Pairs of the unmatched, most alike first; each finding at most once. O(old · new · steps²).
  func pairs(_ old: [ComparedFindings.Entry], _ new: [ComparedFindings.Entry], _ matching: NameMatching) -> [Pair] {
    var candidates: [(likeness: Double, pair: Pair)] = []
    for a in old.indices where matching.partners[a] == nil {
      for b in new.indices where !matching.isTaken[b] {
        if let (likeness, differences) = compare(old[a], new[b]) {
          candidates.append((likeness, Pair(old: a, new: b, differences: differences)))
        }
      }
    }
    candidates.sort { ($0.likeness, $1.pair.old, $1.pair.new) > ($1.likeness, $0.pair.old, $0.pair.new) }
    var takenOld: Set<Int> = []
    var takenNew: Set<Int> = []
    var result: [Pair] = []
    for (_, pair) in candidates where !takenOld.contains(pair.old) && !takenNew.contains(pair.new) {
      takenOld.insert(pair.old)
      takenNew.insert(pair.new)
      result.append(pair)
    }
    return result
  }

  private func compare(_ a: ComparedFindings.Entry, _ b: ComparedFindings.Entry) -> (Double, [String])? {
    var differences: [String] = []
    guard Self.sort(of: a.finding.verdict) == Self.sort(of: b.finding.verdict), a.finding.isCycle == b.finding.isCycle else { return nil }
    if a.finding.verdict != b.finding.verdict { differences.append("it was told as \(a.finding.verdict.words)") }
    guard a.identity.head.dropFirst().elementsEqual(b.identity.head.dropFirst()), a.identity.tail.count == b.identity.tail.count else { return nil }
    if !zip(a.identity.tail, b.identity.tail).allSatisfy({ vocabulary.current($0) == $1 }) {
      guard let before = a.finding.outliving?.holder, b.finding.outliving != nil else { return nil }
      differences.append("it was held by \(before)")
    }
    // Of what outlives its scope the path may go another way each time; its last object is what counts.
    let isOutliving = a.finding.outliving != nil
    let steps = (a.identity.steps, b.identity.steps)
    let allocations = isOutliving ? (Array(a.allocations.suffix(1)), Array(b.allocations.suffix(1))) : (a.allocations, b.allocations)
    let shifts = a.finding.isCycle ? steps.1.count : min(1, steps.1.count)
    var best: (Double, [String])?
    for shift in 0..<shifts {
      guard let (likeness, found) = compare(steps.0, allocations.0, Self.rotated(steps.1, shift), Self.rotated(allocations.1, shift)) else { continue }
      if best.map({ likeness > $0.0 }) ?? true { best = (likeness, found) }
    }
    guard var best else { return nil }
    best.1 = differences + best.1
    best.0 -= 0.2 * Double(differences.count)
    return best.0 > 0.5 ? best : nil
  }

  private func compare(_ a: [[Int32]], _ aWays: [[String]], _ b: [[Int32]], _ bWays: [[String]]) -> (Double, [String])? {
    guard a.count == b.count, a.count == aWays.count, b.count == bWays.count, !a.isEmpty else { return nil }
    var differences: [String] = []
    var likeness = 0.0
    var otherEdges = 0
    for (index, (old, new)) in zip(a, b).enumerated() {
      // Kind and type.
      guard old[0] == new[0], vocabulary.current(old[1]) == new[1] else { return nil }
      let way = SiteLikeness.stackLikeness(
        aWays[index].map { vocabulary.number(of: $0, on: .old) }, bWays[index].map { vocabulary.number(of: $0, on: .new) }, vocabulary)
      let isSameClosure = vocabulary.current(old[3]) == new[3]
      if way < 0.5, !isSameClosure || vocabulary.name(new[3]).isEmpty { return nil }
      likeness += max(way, isSameClosure && !vocabulary.name(new[3]).isEmpty ? 0.75 : 0)
      if vocabulary.current(old[2]) != new[2], !vocabulary.name(old[2]).isEmpty {
        let words = "\(shortType(new[1])) was allocated in \(vocabulary.name(old[2]))"
        if !differences.contains(words) { differences.append(words) }
      }
      if !isSameClosure { differences.append("the closure was \(vocabulary.name(old[3]))") }
      if vocabulary.current(old[4]) != new[4] {
        otherEdges += 1
        differences.append("it was held through \(vocabulary.name(old[4]))")
      } else if old[5] != new[5] {
        differences.append("it was held by \(vocabulary.name(old[5])) reference")
      }
    }
    guard otherEdges == 0 || otherEdges == 1 && a.count > 1 else { return nil }
    return (likeness / Double(a.count) - 0.1 * Double(otherEdges), differences)
  }

  private func shortType(_ number: Int32) -> String {
    let name = vocabulary.name(number)
    return name.firstIndex(of: ".").map { String(name[name.index(after: $0)...]) } ?? name
  }

  /// Verdicts that numbers alone tell apart are of one sort.
  private static func sort(of verdict: Verdict) -> Verdict { verdict == .accumulating ? .outlived : verdict }

  private static func rotated<Element>(_ elements: [Element], _ shift: Int) -> [Element] {
    shift < elements.count ? Array(elements[shift...] + elements[..<shift]) : elements
  }
}
