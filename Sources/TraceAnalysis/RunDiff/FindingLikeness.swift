// Matches findings that have the same cause although parts of their paths differ.

import HeapAnalysis
import LeakDetection
import TraceSymbolication
import Wording

/// Matches findings that are not equal by name. Two findings match if the types and fields along their paths are the
/// same and the allocation stacks are similar. One field may have another name, or hold another kind of collection.
struct FindingLikeness {
  private let vocabulary: Vocabulary
  private let renames: [DiffRename]

  init(_ vocabulary: Vocabulary, renames: [DiffRename]) { (self.vocabulary, self.renames) = (vocabulary, renames) }

  struct Pair {
    var old: Int
    var new: Int
    var differences: [String]
    /// Whether the new finding is the remainder of an old one that was fixed.
    var isRemainder = false
  }

  /// Returns pairs of unmatched findings, most similar first; each finding occurs at most once. O(old · new · steps²).
  func pairs(_ old: [ComparedFindings.Entry], _ new: [ComparedFindings.Entry], _ matching: NameMatching) -> [Pair] {
    var candidates: [(likeness: Double, pair: Pair)] = []
    for a in old.indices where matching.partners[a] == nil {
      for b in new.indices where !matching.isTaken[b] {
        guard isComparable(old[a], new[b]) else { continue }
        if let remainder = remainder(old[a], new[b]) {
          candidates.append(
            (LikenessRules.ofRemainder, Pair(old: a, new: b, differences: [remainder], isRemainder: true)))
        } else if let (likeness, differences) = compare(old[a], new[b]) {
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

  /// Returns whether the findings have similar verdicts, the same form and the same holder.
  private func isComparable(_ a: ComparedFindings.Entry, _ b: ComparedFindings.Entry) -> Bool {
    Self.sort(of: a.finding.verdict) == Self.sort(of: b.finding.verdict)
      && a.finding.evidence.isCycle == b.finding.evidence.isCycle
      && a.identity.head.dropFirst().elementsEqual(b.identity.head.dropFirst())
      && a.identity.tail.count == b.identity.tail.count
      && zip(a.identity.tail, b.identity.tail).allSatisfy { isSameHolder($0, $1) }
  }

  private func compare(_ a: ComparedFindings.Entry, _ b: ComparedFindings.Entry) -> (Double, [String])? {
    var differences: [String] = []
    if a.finding.verdict != b.finding.verdict {
      differences.append("it was reported as \(VerdictWords(a.finding.verdict).inSentence)")
    }
    // The path to an object that outlives its scope may differ in each run, so only the path's last object counts.
    let isHeld = a.finding.evidence.retention != nil
    let steps = (a.identity.steps, b.identity.steps)
    let allocations =
      isHeld ? (Array(a.allocations.suffix(1)), Array(b.allocations.suffix(1))) : (a.allocations, b.allocations)
    let fields = isHeld ? ([], []) : (a.finding.path.map(\.fields), b.finding.path.map(\.fields))
    let shifts = a.finding.evidence.isCycle ? steps.1.count : min(1, steps.1.count)
    var best: (Double, [String])?
    for shift in 0..<shifts {
      guard
        let (likeness, found) = compare(
          (steps.0, allocations.0, fields.0),
          (Self.rotated(steps.1, shift), Self.rotated(allocations.1, shift), Self.rotated(fields.1, shift)))
      else { continue }
      if best.map({ likeness > $0.0 }) ?? true { best = (likeness, found) }
    }
    guard var best else { return nil }
    best.1 = differences + best.1
    best.0 -= LikenessRules.costOfOtherVerdict * Double(differences.count)
    return best.0 > LikenessRules.minOfFindings ? best : nil
  }

  /// For each step of a path: the identity, the allocating functions and the fields.
  private typealias Path = (steps: [[Int32]], ways: [[String]], fields: [[String]])

  private func compare(_ old: Path, _ new: Path) -> (Double, [String])? {
    let (a, aWays, aFields) = old
    let (b, bWays, bFields) = new
    guard a.count == b.count, a.count == aWays.count, b.count == bWays.count, !a.isEmpty else { return nil }
    var differences: [String] = []
    var likeness = 0.0
    var otherEdges = 0
    for (index, (old, new)) in zip(a, b).enumerated() {
      // Compare kind and type. A collection may replace a collection of another kind.
      let isCollection = Self.isCollection(vocabulary.name(old[0])) && Self.isCollection(vocabulary.name(new[0]))
      guard isCollection || old[0] == new[0] && vocabulary.current(old[1]) == new[1] else { return nil }
      let way = SiteLikeness.stackLikeness(
        Self.way(aWays[index], from: vocabulary.name(old[2])).map { vocabulary.number(of: $0, on: .old) },
        Self.way(bWays[index], from: vocabulary.name(new[2])).map { vocabulary.number(of: $0, on: .new) }, vocabulary)
      let isSameClosure = vocabulary.current(old[3]) == new[3]
      if !isSameClosure, !isReplaced(old[3], new[3]) { return nil }
      if way < LikenessRules.minOfStacks, !isSameClosure || vocabulary.name(new[3]).isEmpty { return nil }
      likeness += max(way, isSameClosure && !vocabulary.name(new[3]).isEmpty ? LikenessRules.ofSameClosure : 0)
      if vocabulary.current(old[2]) != new[2], !vocabulary.name(old[2]).isEmpty {
        let words = "\(shortType(new[1])) was allocated in \(vocabulary.name(old[2]))"
        if !differences.contains(words) { differences.append(words) }
      }
      if !isSameClosure {
        differences.append(
          "\(vocabulary.name(old[0]) == NodeKind.task.key ? "the task waited in" : "the closure was") \(vocabulary.name(old[3]))"
        )
      }
      if vocabulary.current(old[4]) != new[4] {
        // The old field may still exist without the leak, so check that the new build lacks it.
        let (before, after) = (vocabulary.name(old[4]), vocabulary.name(new[4]))
        guard
          isCollection
            || isRenamedField(
              before, after, index < aFields.count ? aFields[index] : [], index < bFields.count ? bFields[index] : [])
        else { return nil }
        otherEdges += 1
        differences.append(
          isCollection ? "it was held in another kind of collection" : "the field \(before) is \(after) now")
      } else if old[5] != new[5] {
        differences.append("it was held by \(vocabulary.name(old[5])) reference")
      }
    }
    guard otherEdges <= LikenessRules.otherFieldLimit else { return nil }
    return (likeness / Double(a.count) - LikenessRules.costOfOtherField * Double(otherEdges), differences)
  }

  /// Returns whether a field that only the new build has replaced a field that only the old build has.
  private func isRenamedField(_ old: String, _ new: String, _ oldFields: [String], _ newFields: [String]) -> Bool {
    func top(_ name: String) -> String { String(name.prefix { $0 != "." }) }
    return oldFields.contains(top(old)) && newFields.contains(top(new)) && !oldFields.contains(top(new))
      && !newFields.contains(top(old))
  }

  /// Returns whether the holder is the same after known renames are applied.
  private func isSameHolder(_ old: Int32, _ new: Int32) -> Bool {
    if vocabulary.current(old) == new { return true }
    var text = vocabulary.name(old)
    for rename in renames { text = text.replacingName(rename.old, with: rename.new) }
    return text == vocabulary.name(new)
  }

  /// Returns whether one closure replaced the other: their enclosing functions correspond, or the old function was
  /// removed and the new one added.
  private func isReplaced(_ old: Int32, _ new: Int32) -> Bool {
    func place(_ name: String) -> Substring {
      var rest = name[...]
      while let range = rest.firstRange(of: " in ") { rest = rest[range.upperBound...] }
      return rest
    }
    let (before, after) = (String(place(vocabulary.name(old))), String(place(vocabulary.name(new))))
    return vocabulary.currentName(before) == after
      || !vocabulary.isOnNewSide(name: before) && !vocabulary.isOnOldSide(name: after)
  }

  /// Returns a description of the new finding if it is the remainder of the old one; otherwise nil. A registration
  /// keeps a closure that captures an object. A fix may remove the capture but leave the closure registered. The
  /// registered closure is then the remainder of the same leak.
  private func remainder(_ a: ComparedFindings.Entry, _ b: ComparedFindings.Entry) -> String? {
    guard let registration = a.finding.evidence.retention?.registration,
      registration == b.finding.evidence.retention?.registration,
      let object = a.finding.path.last, object.kind == .object, let closure = b.finding.path.last,
      closure.kind == .closure
    else { return nil }
    let functions = a.finding.path.flatMap { step in [step.function, step.reference?.closure].compactMap { $0 } }.map {
      StableName.of($0)
    }
    guard functions.contains(StableName.of(closure.function)) || a.allocations.last == b.allocations.last else {
      return nil
    }
    return "the closure that kept \(object.type) is left"
  }

  /// Drops the functions that the allocating function called: an object's own initialisers say nothing about its place.
  private static func way(_ functions: [String], from allocation: String) -> [String] {
    functions.firstIndex(of: allocation).map { Array(functions[$0...]) } ?? functions
  }

  private static func isCollection(_ kind: String) -> Bool { ["array", "dictionary", "set"].contains(kind) }

  private func shortType(_ number: Int32) -> String {
    let name = vocabulary.name(number)
    return name.firstIndex(of: ".").map { String(name[name.index(after: $0)...]) } ?? name
  }

  /// Joins verdicts that differ only by numbers.
  private static func sort(of verdict: Verdict) -> Verdict { verdict == .accumulating ? .outlived : verdict }

  private static func rotated<Element>(_ elements: [Element], _ shift: Int) -> [Element] {
    shift < elements.count ? Array(elements[shift...] + elements[..<shift]) : elements
  }
}
