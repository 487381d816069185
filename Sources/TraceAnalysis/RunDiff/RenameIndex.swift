// Looking for renames that stand in a name.

/// An index of the renames that can apply to a name, by the first word that each replaces: a name has few words, and
/// there may be thousands of renames.
///
/// It divides names into words as `String.replacingName` does, so it misses none that that function would replace. For
/// one thread at a time.
struct RenameIndex {
  private var numbers: [Substring: [Int]] = [:]
  /// The number of renames that may still be looked at. Names of real builds take far fewer; once it is used up, no
  /// more are found.
  private var spareCandidates = 1 << 17

  mutating func insert(_ number: Int, _ old: String) {
    numbers[Self.words(old).first ?? "", default: []].append(number)
  }

  /// Numbers of renames that may stand in a text, ascending, from `first` on. O(length) and those.
  mutating func candidates(in text: String, from first: Int = 0) -> [Int] {
    var result: [Int] = []
    for word in Set(Self.words(text)).union([""]) {
      guard let found = numbers[word] else { continue }
      spareCandidates -= found.count
      guard spareCandidates >= 0 else { return [] }
      result += found.filter { $0 >= first }
    }
    return result.sorted()
  }

  private static func words(_ text: String) -> [Substring] { text.split { !$0.isPartOfName } }
}

extension Character {
  /// It stands in names of functions and types, and not between them.
  var isPartOfName: Bool { isLetter || isNumber || self == "_" }
}
