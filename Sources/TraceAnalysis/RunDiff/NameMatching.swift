// Matches things of the old side with those of the new one, by name.

/// Something that is compared, by the names that it is made of.
struct NamedItem {
  /// The names that it is made of, in the order in which `name` makes them stand: what begins in an arbitrary place
  /// begins where that comes first.
  var parts: (_ name: (Int32) -> Int32) -> (named: [Int32], own: [Int32])
  /// Its number: one thing under two names mostly comes in like numbers.
  var amount: Double
  /// Its names are the program's own. Names of the platform's functions say nothing about the program's renames.
  var isOfProgram = true
}

/// Matches items that are equal, then those that are equal once names are replaced which have changed throughout.
///
/// A name can only have changed if one side alone has it. Sites whose other names are the same, in the same places,
/// each say which new name stands where the old one stood; a name has become another if most of what speaks of either
/// says so, names that read alike before others. Findings do not say so: what leaks no more, and what leaks instead,
/// would look like one thing under two names.
struct NameMatching {
  /// Each round may find names that others stand beside.
  private static let rounds = 3
  /// Items with the same shared names, on both sides together, beyond which they say nothing.
  private static let crowd = 64
  /// Names that are compared in a round: a second's work. Builds between which hundreds of functions were renamed take
  /// some ten thousand.
  static let comparisonLimit = 1 << 17

  /// By old item: the new one, and whether names were replaced.
  private(set) var partners: [(new: Int, isRenamed: Bool)?]
  private(set) var isTaken: [Bool]

  init(old: [NamedItem], new: [NamedItem]) {
    partners = Array(repeating: nil, count: old.count)
    isTaken = Array(repeating: false, count: new.count)
  }

  /// Matches what is equal under the successors known so far.
  mutating func matchEqual(_ old: [NamedItem], _ new: [NamedItem], _ vocabulary: Vocabulary, isRenamed: Bool) {
    var places: [[Int32]: Int] = [:]
    for (index, item) in new.enumerated() where !isTaken[index] { places[item.parts { $0 }.named] = index }
    for (index, item) in old.enumerated() where partners[index] == nil {
      guard let place = places[item.parts { vocabulary.current($0) }.named], !isTaken[place] else { continue }
      partners[index] = (place, isRenamed)
      isTaken[place] = true
    }
  }

  /// Collects votes on the new name of each old one: old, new, and the weight of the vote.
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
      // If little else is the same, the same places mean nothing.
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
          // A name counts once, however often the item has it.
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

  /// The largest crowd that is asked: smaller than usual if all of those would compare too many names.
  static func crowdLimit(_ crowds: [(size: Int, comparisons: Int)]) -> Int {
    var limit = crowd
    while limit > 1, crowds.reduce(0, { $0 + ($1.size <= limit ? $1.comparisons : 0) }) > comparisonLimit { limit /= 2 }
    return limit
  }

  /// 1 for equal amounts, towards 0 for ever more different ones.
  static func likeness(_ a: Double, _ b: Double) -> Double {
    let larger = max(a, b)
    return larger > 0 ? min(a, b) / larger : 1
  }

  /// Matches sites and findings by name, together: what is learnt of a name by the one holds for the other.
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

  /// Names in unmatched items that have renamed ones in them, as a closure's has its function's: these follow. True if
  /// there is one.
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

  /// Takes a name to have become another if most votes on either say so. True if there is one.
  private static func elect(_ votes: [Int32: [Int32: Double]], _ vocabulary: Vocabulary) -> Bool {
    var received: [Int32: Double] = [:]
    for choices in votes.values { for (new, weight) in choices { received[new, default: 0] += weight } }
    var elected: [(old: Int32, new: Int32)] = []
    for (old, choices) in votes {
      let given = choices.values.reduce(0, +)
      guard let (new, weight) = choices.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }),
        weight >= LikenessRules.leastVotes,
        weight > LikenessRules.majority * given, weight > LikenessRules.majority * received[new, default: 0]
      else { continue }
      elected.append((old, new))
    }
    // Types settle first: their methods' names follow from theirs.
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
