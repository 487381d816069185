// The numbers that decide which sites and findings of two builds are the same.

/// All constants that decide whether items of two builds are the same although their names differ. Likeness is from 0
/// to 1. A wrong match hides a change; a missing one reports an old leak as new. Both are wrong, so a match needs
/// agreement in most of the comparable parts.
enum LikenessRules {
  // MARK: Stacks

  /// Two stacks of at least this likeness may be of one site or step: half of the longer one's functions.
  static let leastOfStacks = 0.5
  /// Likeness of two stacks whose innermost functions are the same, or tied by a split or an inlining, whatever their
  /// callers are.
  static let ofSameFunction = 0.5
  /// From this likeness on, one function may have replaced another that is gone: nearly all else must be the same.
  static let leastOfReplaced = 0.75
  /// Weight of similar amounts relative to similar stacks: it decides only between equally similar stacks.
  static let weightOfAmounts = 0.1
  /// If there are too many for all pairs: the number of new sites with the same innermost function that an old site is
  /// compared with.
  static let sharedFunctionLimit = 64
  /// Blocks that the last site of a type must have allocated to be matched by its numbers alone: small numbers agree by
  /// chance.
  static let leastAmountOfLast = 8.0
  /// Likeness that those numbers must have.
  static let leastAmountLikenessOfLast = 0.98

  // MARK: Findings

  /// Two findings of more than this likeness are the same.
  static let leastOfFindings = 0.5
  /// Likeness of a step with the same closure: the closure's function identifies it better than its allocation does.
  static let ofSameClosure = 0.75
  /// Likeness of a fixed finding's remainder: less than the likeness of a whole finding.
  static let ofRemainder = 0.6
  /// Subtracted for another verdict, and for another field or kind of collection on the path.
  static let costOfOtherVerdict = 0.2
  static let costOfOtherField = 0.1
  /// Fields on a path that may differ: with two, it is another path.
  static let otherFieldLimit = 1

  // MARK: Names

  /// Hidden parts of a name that are allowed for each shown part after the first. If little else is the same, the same
  /// places mean nothing.
  static let hiddenForEachShown = 2
  /// Votes that a name needs to be elected: a tenth of one pair of items that agree.
  static let leastVotes = 0.1
  /// Two names are one if their votes exceed this part of all votes that the old name gives and the new name receives.
  static let majority = 0.6
}
