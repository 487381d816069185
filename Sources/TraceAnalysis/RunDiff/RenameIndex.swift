// Finds the renames that apply to a name.

/// An index of renames by the first word of the replaced name. A name has few words, and there may be thousands of
/// renames.
///
/// Divides names into words as `String.replacingName` does, so it misses no rename that this function would apply. For
/// one thread at a time.
struct RenameIndex {
  private var numbers: [Substring: [Int]] = [:]
  /// The number of renames that may still be examined. Real builds need far fewer. At 0, no more renames are found.
  private var spareCandidates = 1 << 17

  mutating func insert(_ number: Int, _ old: String) {
    numbers[Self.words(old).first ?? "", default: []].append(number)
  }

  /// Returns the numbers of the renames that may apply to a text, in ascending order, from `first` on. Linear in the
  /// text and the result.
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
  /// Whether the character can be a part of a function's or type's name. Other characters separate names.
  var isPartOfName: Bool { isLetter || isNumber || self == "_" }
}
