// The constants that decide which sites and findings of two builds are the same.

/// All constants that decide whether items of two builds are the same although their names differ. Likeness ranges from
/// 0 to 1. A wrong match hides a change; a missing match reports an old leak as new. To avoid both, a match requires
/// agreement in most of the comparable parts.
enum LikenessRules {
  // MARK: Stacks

  /// Minimum likeness of two stacks of one site or step. It means that the stacks share half of the longer stack's
  /// functions.
  static let minOfStacks = 0.5
  /// Minimum likeness of two stacks whose innermost functions are the same, or related by a split or an inlining. Their
  /// callers do not matter for this minimum.
  static let ofSameFunction = 0.5
  /// Minimum likeness of two stacks for the case that a new innermost function replaced one that is gone. Nearly all
  /// other functions must be the same.
  static let minOfReplaced = 0.75
  /// Weight of similar amounts relative to similar stacks. It is so small that amounts decide only between equally
  /// similar stacks.
  static let weightOfAmounts = 0.1
  /// If there are too many pairs of sites to compare all: the maximum number of new sites that an old site is compared
  /// with. Only sites with the same innermost function are compared.
  static let sharedFunctionLimit = 64
  /// Minimum number of allocated blocks for matching the last site of a type by its amount alone. Smaller amounts may
  /// agree by chance.
  static let minAmountOfLast = 8.0
  /// Minimum likeness of the two amounts for that match.
  static let minAmountLikenessOfLast = 0.98

  // MARK: Findings

  /// Two findings are the same if their likeness exceeds this value.
  static let minOfFindings = 0.5
  /// Likeness of a step with the same closure: the closure's function identifies it better than its allocation does.
  static let ofSameClosure = 0.75
  /// Likeness of a fixed finding's remainder. It is lower than the likeness of a whole finding.
  static let ofRemainder = 0.6
  /// Subtracted from the likeness for a different verdict. `costOfOtherField`: subtracted for a different field or kind
  /// of collection on the path.
  static let costOfOtherVerdict = 0.2
  static let costOfOtherField = 0.1
  /// Maximum number of fields on a path that may differ. With two different fields, it is another path.
  static let otherFieldLimit = 1

  // MARK: Names

  /// Maximum number of hidden parts of an item for each shown part after the first. With few shown parts, agreement
  /// means nothing.
  static let hiddenForEachShown = 2
  /// Minimum vote for a new name to be accepted: a tenth of the vote of one pair of items that agree.
  static let minVotes = 0.1
  /// A new name is accepted if the old name's votes for it exceed this share of all votes of the old name, and of all
  /// votes for the new name.
  static let majority = 0.6
}
