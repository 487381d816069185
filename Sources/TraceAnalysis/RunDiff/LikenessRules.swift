// The numbers by which sites and findings of two builds are taken for the same.

/// Every constant that decides whether something of the old build is the same in the new one, though no name makes it
/// equal. Likeness is from 0 to 1. A wrong match hides a change; a missing one shows an old leak as new: both are
/// wrong, so that a match needs the larger part of what can be compared.
enum LikenessRules {
  // MARK: Stacks

  /// Likeness from which on two stacks may be of one site or step: half of the longer one's functions.
  static let leastOfStacks = 0.5
  /// Likeness of two stacks whose innermost functions are the same, or tied by a split or an inlining, whatever their
  /// callers are.
  static let ofSameFunction = 0.5
  /// Likeness from which on one function may have replaced another that is gone: nearly all else must be the same.
  static let leastOfReplaced = 0.75
  /// Weight of like amounts beside like stacks: it decides between stacks that are equally alike, and nothing else.
  static let weightOfAmounts = 0.1
  /// New sites with the same innermost function that an old one is compared with, where there are too many for all
  /// pairs.
  static let sharedFunctionLimit = 64
  /// Blocks that the last site of a type must have allocated to be known by its numbers alone: small ones agree by
  /// chance.
  static let leastAmountOfLast = 8.0
  /// Likeness of the numbers that is asked for then.
  static let leastAmountLikenessOfLast = 0.98

  // MARK: Findings

  /// Likeness from which on two findings are the same.
  static let leastOfFindings = 0.5
  /// Likeness of a step whose closure is the same: it is told by its function more than by who made it.
  static let ofSameClosure = 0.75
  /// Likeness of what is left of a mended finding: less than that of a finding that is whole.
  static let ofRemainder = 0.6
  /// Taken off for another verdict, and for another field or kind of collection on the path.
  static let costOfOtherVerdict = 0.2
  static let costOfOtherField = 0.1
  /// Fields on a path that may be others: two are another path.
  static let otherFieldLimit = 1

  // MARK: Names

  /// Parts of a name that may be hidden for each one that is shown besides one: with little else the same, the same
  /// places mean nothing.
  static let hiddenForEachShown = 2
  /// Votes from which on a name can be elected: a tenth of one pair of items that agree.
  static let leastVotes = 0.1
  /// Part of the votes that a name gives, and of those that the other receives, above which they are one.
  static let majority = 0.6
}
