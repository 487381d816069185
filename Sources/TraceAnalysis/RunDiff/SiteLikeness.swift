// Matches sites that are the same although their stacks differ.

/// Matches sites that are not equal by name. Both sites must have the same type. The allocating function must be the
/// same, or it must have been split, inlined into its caller, or replaced. The functions that only one side has show
/// which of these changes happened.
enum SiteLikeness {
  /// Maximum number of pairs of sites of one type. If there are more, only sites with the same innermost function are
  /// compared.
  static let pairLimit = 20_000
  /// Maximum number of a stack's functions that are compared.
  static let depthLimit = 64

  private struct Candidate {
    var old: Int
    var new: Int
    var likeness: Double
  }

  private struct Kind: Hashable {
    var type: Int32
    var operation: Int32
  }

  /// Returns pairs of unmatched sites, most similar first; each site occurs at most once.
  static func pairs(
    _ old: [ComparedSites.Entry], _ new: [ComparedSites.Entry], _ matching: NameMatching, _ vocabulary: Vocabulary
  ) -> [(old: Int, new: Int)] {
    var olds: [Kind: [Int]] = [:]
    var news: [Kind: [Int]] = [:]
    for (index, entry) in old.enumerated() where matching.partners[index] == nil {
      olds[Kind(type: vocabulary.current(entry.type), operation: entry.operation), default: []].append(index)
    }
    for (index, entry) in new.enumerated() where !matching.isTaken[index] {
      news[Kind(type: entry.type, operation: entry.operation), default: []].append(index)
    }
    var result: [(old: Int, new: Int)] = []
    for (kind, olds) in olds {
      guard let news = news[kind] else { continue }
      result += pairs(olds, news, old, new, vocabulary)
    }
    return result
  }

  private static func pairs(
    _ olds: [Int], _ news: [Int], _ old: [ComparedSites.Entry], _ new: [ComparedSites.Entry], _ vocabulary: Vocabulary
  ) -> [(old: Int, new: Int)] {
    var candidates: [Candidate] = []
    func consider(_ a: Int, _ b: Int) {
      let likeness = stackLikeness(way(old[a], vocabulary), way(new[b], vocabulary), vocabulary)
      guard likeness >= LikenessRules.minOfStacks else { return }
      // Among equally similar stacks, sites with similar amounts belong together.
      candidates.append(
        Candidate(
          old: a, new: b,
          likeness: likeness + LikenessRules.weightOfAmounts * NameMatching.likeness(old[a].amount, new[b].amount)))
    }
    if olds.count * news.count <= pairLimit {
      for a in olds { for b in news { consider(a, b) } }
    } else {
      var byFunction: [Int32: [Int]] = [:]
      for b in news { if let first = new[b].functions.first { byFunction[first, default: []].append(b) } }
      for a in olds {
        guard let first = old[a].functions.first else { continue }
        for b in byFunction[vocabulary.current(first)]?.prefix(LikenessRules.sharedFunctionLimit) ?? [] {
          consider(a, b)
        }
      }
    }
    candidates.sort { ($0.likeness, $1.old, $1.new) > ($1.likeness, $0.old, $0.new) }
    var takenOld: Set<Int> = []
    var takenNew: Set<Int> = []
    var result: [(old: Int, new: Int)] = []
    for candidate in candidates where !takenOld.contains(candidate.old) && !takenNew.contains(candidate.new) {
      takenOld.insert(candidate.old)
      takenNew.insert(candidate.new)
      result.append((candidate.old, candidate.new))
    }
    // If one site of a type remains on each side, and their amounts are nearly the same, the site has moved.
    let restOld = olds.filter { !takenOld.contains($0) }
    let restNew = news.filter { !takenNew.contains($0) }
    if restOld.count == 1, restNew.count == 1, old[restOld[0]].amount >= LikenessRules.minAmountOfLast,
      NameMatching.likeness(old[restOld[0]].amount, new[restNew[0]].amount) > LikenessRules.minAmountLikenessOfLast
    {
      result.append((restOld[0], restNew[0]))
    }
    return result
  }

  /// Returns the functions on the stack, without the innermost initialisers. Every object of the type has these
  /// initialisers.
  private static func way(_ entry: ComparedSites.Entry, _ vocabulary: Vocabulary) -> [Int32] {
    let functions = entry.functions.prefix(depthLimit)
    let rest = functions.drop { vocabulary.name($0).contains("init(") }
    return Array(rest.isEmpty ? functions : rest)
  }

  /// Describes the functions on a site's stack that only one side has.
  static func differences(_ old: [Int32], _ new: [Int32], _ vocabulary: Vocabulary) -> [String] {
    let before = old.map(vocabulary.current)
    let gone = before.filter { !new.contains($0) }
    let come = new.filter { !before.contains($0) }
    func more(_ names: [Int32]) -> String { names.count > 1 ? " and \(names.count - 1) more" : "" }
    var words: [String] = []
    if let first = gone.first { words.append("no longer through \(vocabulary.name(first))\(more(gone))") }
    if let first = come.first { words.append("now through \(vocabulary.name(first))\(more(come))") }
    return words.isEmpty ? ["called in another order"] : words
  }

  /// Returns the share of the longer stack that both stacks have in the same order, from 0 to 1. Returns 0 if the
  /// innermost functions differ, with three exceptions:
  ///
  /// - The new function is split from the old one.
  /// - The old function is gone because it was inlined into a caller.
  /// - A new function replaces an old one that is gone, and nearly all other functions are the same.
  static func stackLikeness(_ old: [Int32], _ b: [Int32], _ vocabulary: Vocabulary) -> Double {
    let a = old.map(vocabulary.current)
    guard let first = a.first, let other = b.first else { return a.count == b.count ? 1 : 0 }
    if a == b { return 1 }
    let common = Double(CommonSubsequence.length(a, b)) / Double(max(a.count, b.count))
    if first == other { return max(LikenessRules.ofSameFunction, common) }
    let isOldGone = !vocabulary.isOnNewSide(old[0])
    let isNewCome = !vocabulary.isOnOldSide(other)
    // Ignore the outermost function, because all of a program's stacks may share it.
    let isSplit = isNewCome && b.contains(first) && (a.count > 1 || b.count == 2)
    let isJoined = isOldGone && a.contains(other) && (b.count > 1 || a.count == 2)
    if isSplit || isJoined { return max(LikenessRules.ofSameFunction, common) }
    return isOldGone && isNewCome && common >= LikenessRules.minOfReplaced ? common : 0
  }
}
