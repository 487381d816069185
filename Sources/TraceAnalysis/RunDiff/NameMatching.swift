// Matches items of the old side with items of the new side, by name.

/// An item to compare, identified by its names.
struct NamedItem {
  /// Returns the item's names after replacement by `name`, and its original names in the same order. A cycle has no
  /// natural beginning, so it begins where the replaced names sort first.
  var parts: (_ name: (Int32) -> Int32) -> (named: [Int32], own: [Int32])
  /// The item's amount. Usually, an item has similar amounts on both sides.
  var amount: Double
  /// Whether the names are the program's own. Names of platform functions do not help to find the program's renames.
  var isOfProgram = true
}

/// Matches items that are equal, then items that are equal once renamed names are replaced.
///
/// Only a name that occurs on one side alone can have been renamed. If two sites have equal names in all other places,
/// they vote that the new name replaced the old one. The rename is accepted if it has most of the old name's votes and
/// most of the new name's votes. Similar names have more weight. Findings do not vote, because a fixed leak and a new
/// leak would look like one renamed item.
struct NameMatching {
  /// Maximum number of rounds. The renames of one round may reveal others in the next.
  private static let rounds = 3
  /// Maximum number of items with the same shared names, on both sides together. Larger groups do not vote.
  private static let crowd = 64
  /// Maximum number of name comparisons in a round. They take about a second. If hundreds of functions were renamed,
  /// about ten thousand comparisons are needed.
  static let comparisonLimit = 1 << 17

  /// For each old item: the matching new one, and whether names were replaced.
  private(set) var partners: [(new: Int, isRenamed: Bool)?]
  private(set) var isTaken: [Bool]

  init(old: [NamedItem], new: [NamedItem]) {
    partners = Array(repeating: nil, count: old.count)
    isTaken = Array(repeating: false, count: new.count)
  }

  /// Matches items that are equal after the renames that are known so far.
  mutating func matchEqual(_ old: [NamedItem], _ new: [NamedItem], _ vocabulary: Vocabulary, isRenamed: Bool) {
    var places: [[Int32]: Int] = [:]
    for (index, item) in new.enumerated() where !isTaken[index] { places[item.parts { $0 }.named] = index }
    for (index, item) in old.enumerated() where partners[index] == nil {
      guard let place = places[item.parts { vocabulary.current($0) }.named], !isTaken[place] else { continue }
      partners[index] = (place, isRenamed)
      isTaken[place] = true
    }
  }

  /// Adds votes on the new name of each old name. `votes`: the weight by old name and new name.
  fileprivate func votes(
    _ old: [NamedItem], _ new: [NamedItem], _ vocabulary: Vocabulary, into votes: inout [Int32: [Int32: Double]]
  ) {
    struct Voter {
      var item: Int
      var own: [Int32]
    }
    struct Crowd {
      var old: [Voter] = []
      var new: [Voter] = []
    }
    var crowds: [[Int32]: Crowd] = [:]
    for (index, item) in old.enumerated() where partners[index] == nil && item.isOfProgram {
      let (masked, own) = item.parts { vocabulary.masked(old: $0) }
      if masked.contains(Vocabulary.wildcard) {
        crowds[masked, default: Crowd()].old.append(Voter(item: index, own: own))
      }
    }
    for (index, item) in new.enumerated() where !isTaken[index] && item.isOfProgram {
      let (masked, own) = item.parts { vocabulary.masked(new: $0) }
      if masked.contains(Vocabulary.wildcard) {
        crowds[masked, default: Crowd()].new.append(Voter(item: index, own: own))
      }
    }
    crowds = crowds.filter { mask, crowd in
      let hidden = mask.count { $0 == Vocabulary.wildcard }
      // If few other names are shared, the agreement means nothing.
      return !crowd.old.isEmpty && !crowd.new.isEmpty
        && hidden <= LikenessRules.hiddenForEachShown * (mask.count - hidden - 1)
    }
    let limit = Self.crowdLimit(
      crowds.map { mask, crowd in
        (
          crowd.old.count + crowd.new.count,
          crowd.old.count * crowd.new.count * mask.count { $0 == Vocabulary.wildcard }
        )
      })
    for (mask, crowd) in crowds where crowd.old.count + crowd.new.count <= limit {
      let hidden = mask.indices.filter { mask[$0] == Vocabulary.wildcard }
      for a in crowd.old {
        for b in crowd.new {
          let share =
            Self.likeness(old[a.item].amount, new[b.item].amount) / Double(max(crowd.old.count, crowd.new.count))
          // A name votes once, even if the item has it several times.
          var seen: Set<Int32> = []
          for index in hidden
          where seen.insert(a.own[index]).inserted && vocabulary.canBecome(a.own[index], b.own[index]) {
            votes[a.own[index], default: [:]][b.own[index], default: 0] +=
              share * vocabulary.resemblance(a.own[index], b.own[index])
          }
        }
      }
    }
  }

  /// Returns the maximum size of a group that may vote. It is lower than `crowd` if groups up to `crowd` would compare
  /// too many names.
  static func crowdLimit(_ crowds: [(size: Int, comparisons: Int)]) -> Int {
    var limit = crowd
    while limit > 1, crowds.reduce(0, { $0 + ($1.size <= limit ? $1.comparisons : 0) }) > comparisonLimit { limit /= 2 }
    return limit
  }

  /// Returns the likeness of two amounts: 1 if they are equal, falling towards 0 the more they differ.
  static func likeness(_ a: Double, _ b: Double) -> Double {
    let larger = max(a, b)
    return larger > 0 ? min(a, b) / larger : 1
  }

  /// Matches sites and findings together, by name: a rename found for one applies to the other.
  static func match(
    sites: (old: [NamedItem], new: [NamedItem]), findings: (old: [NamedItem], new: [NamedItem]),
    _ vocabulary: Vocabulary
  ) -> (sites: NameMatching, findings: NameMatching) {
    var siteMatching = NameMatching(old: sites.old, new: sites.new)
    var findingMatching = NameMatching(old: findings.old, new: findings.new)
    siteMatching.matchEqual(sites.old, sites.new, vocabulary, isRenamed: false)
    findingMatching.matchEqual(findings.old, findings.new, vocabulary, isRenamed: false)
    for _ in 0..<rounds {
      var votes: [Int32: [Int32: Double]] = [:]
      siteMatching.votes(sites.old, sites.new, vocabulary, into: &votes)
      guard elect(votes, vocabulary) else { break }
      siteMatching.matchEqual(sites.old, sites.new, vocabulary, isRenamed: true)
      findingMatching.matchEqual(findings.old, findings.new, vocabulary, isRenamed: true)
    }
    if findingMatching.follow(findings.old, vocabulary) {
      findingMatching.matchEqual(findings.old, findings.new, vocabulary, isRenamed: true)
    }
    return (siteMatching, findingMatching)
  }

  /// Applies renames to longer names of unmatched items, as a closure's name contains its function's name. Returns
  /// whether any name was replaced.
  func follow(_ old: [NamedItem], _ vocabulary: Vocabulary) -> Bool {
    guard !vocabulary.successors.isEmpty else { return false }
    let renames = DiffRename.simplest(
      vocabulary.successors.map { DiffRename(old: vocabulary.name($0), new: vocabulary.name($1)) }.sorted())
    var index = RenameIndex()
    for (number, rename) in renames.enumerated() { index.insert(number, rename.old) }
    var isAny = false
    var seen: Set<Int32> = []
    for (place, item) in old.enumerated() where partners[place] == nil {
      for name in item.parts({ $0 }).own where seen.insert(name).inserted && vocabulary.follow(name, renames, &index) {
        isAny = true
      }
    }
    return isAny
  }

  /// Accepts the new names that have most of the votes on both names. Returns whether any name was accepted.
  private static func elect(_ votes: [Int32: [Int32: Double]], _ vocabulary: Vocabulary) -> Bool {
    var received: [Int32: Double] = [:]
    for choices in votes.values { for (new, weight) in choices { received[new, default: 0] += weight } }
    var elected: [(old: Int32, new: Int32)] = []
    for (old, choices) in votes {
      let given = choices.values.reduce(0, +)
      guard let (new, weight) = choices.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }),
        weight >= LikenessRules.minVotes,
        weight > LikenessRules.majority * given, weight > LikenessRules.majority * received[new, default: 0]
      else { continue }
      elected.append((old, new))
    }
    // Rename types first, because the names of methods contain them.
    let types = elected.filter { !vocabulary.isFunction($0.old) }
    for (old, new) in types { vocabulary.rename(old, to: new) }
    var isAny = !types.isEmpty
    for (old, new) in elected where vocabulary.isFunction(old) && vocabulary.followsOwners(old, new) {
      vocabulary.rename(old, to: new)
      isAny = true
    }
    return isAny
  }
}
