// The constants that decide which sites and findings of two builds are the same.

/// All constants that decide whether items of two builds are the same although their names differ. Likeness is from 0
/// to 1. A wrong match hides a change; a missing match reports an old leak as new. To avoid both, a match requires
/// agreement in most of the comparable parts.
enum LikenessRules {
  // MARK: Stacks

  /// Two stacks of at least this likeness may belong to one site or step: they share half of the longer stack's
  /// functions.
  static let minOfStacks = 0.5
  /// Minimum likeness of two stacks whose innermost functions are the same, or related by a split or an inlining,
  /// whatever their callers are.
  static let ofSameFunction = 0.5
  /// From this likeness on, a new innermost function may have replaced one that is gone: nearly all other functions
  /// must be the same.
  static let minOfReplaced = 0.75
  /// Weight of similar amounts relative to similar stacks. It is so small that amounts decide only between equally
  /// similar stacks.
  static let weightOfAmounts = 0.1
  /// If there are too many pairs of sites to compare all: the number of new sites with the same innermost function that
  /// an old site is compared with.
  static let sharedFunctionLimit = 64
  /// Minimum number of allocated blocks for matching the last site of a type by its amount alone: small amounts agree
  /// by chance.
  static let minAmountOfLast = 8.0
  /// Minimum likeness of the two amounts in that case.
  static let minAmountLikenessOfLast = 0.98

  // MARK: Findings

  /// Two findings of more than this likeness are the same.
  static let minOfFindings = 0.5
  /// Likeness of a step with the same closure: the closure's function identifies it better than its allocation does.
  static let ofSameClosure = 0.75
  /// Likeness of a fixed finding's remainder: less than the likeness of a whole finding.
  static let ofRemainder = 0.6
  /// Subtracted from the likeness for a different verdict. `costOfOtherField`: subtracted for a different field or kind
  /// of collection on the path.
  static let costOfOtherVerdict = 0.2
  static let costOfOtherField = 0.1
  /// Limit of the fields on a path that may differ. With two different fields, it is another path.
  static let otherFieldLimit = 1

  // MARK: Names

  /// Limit of the hidden parts of an item for each shown part after the first. With few shown parts, agreement means
  /// nothing.
  static let hiddenForEachShown = 2
  /// Minimum votes for a name to be elected: a tenth of the vote of one pair of items that agree.
  static let minVotes = 0.1
  /// A new name is elected if its votes from the old name exceed this share of all votes of the old name, and of all
  /// votes for the new name.
  static let majority = 0.6
}
