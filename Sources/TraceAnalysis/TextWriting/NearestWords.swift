// Suggestions for a mistyped word.

/// Finds words that differ from a given word by a few typing errors. Ignores the case of letters.
package enum NearestWords {
  /// Returns the candidates nearest to `word`, the nearest first. Equally near candidates keep their order.
  ///
  /// A candidate is near if few letters are missing, added, changed or swapped with a neighbour: one letter in words of
  /// up to six letters, two in words of up to nine, and three in longer words. A candidate that begins with `word` is
  /// near, too. A qualified name is as near as its last part without arguments: `App.Cache<Int>.fill(_:)` is as near as
  /// `fill`.
  ///
  /// O(candidates · the square of a name's length).
  ///
  /// - Parameters:
  ///   - word: The mistyped word. No candidate is near an empty word.
  ///   - limit: Maximum number of candidates to return.
  package static func nearest(
    to word: String, among candidates: some Sequence<String>, limit: Int = 3
  ) -> [String] {
    let typed = Array(word.lowercased())
    guard !typed.isEmpty else { return [] }
    var found: [(name: String, distance: Int, place: Int)] = []
    var seen: Set<String> = []
    for candidate in candidates where seen.insert(candidate).inserted {
      if let distance = distance(typed, toAnyFormOf: candidate) { found.append((candidate, distance, found.count)) }
    }
    return found.sorted { ($0.distance, $0.place) < ($1.distance, $1.place) }.prefix(limit).map(\.name)
  }

  /// Returns `Did you mean 'a'?` or `Did you mean 'a', 'b' or 'c'?`; nil if there are no candidates. Control characters
  /// in names are escaped.
  package static func question(_ candidates: [String]) -> String? {
    let quoted = candidates.map { "'\(PlainText.escaped($0))'" }
    guard let last = quoted.last else { return nil }
    let others = quoted.dropLast().joined(separator: ", ")
    return "Did you mean \(others.isEmpty ? "" : others + " or ")\(last)?"
  }

  /// Returns the least distance to three forms of a name: the whole name, the name without arguments, and its last
  /// part. Nil if none of them is near.
  private static func distance(_ typed: [Character], toAnyFormOf name: String) -> Int? {
    let whole = Array(name.lowercased())
    let plain = withoutArguments(whole)
    let last = plain.lastIndex(of: ".").map { Array(plain[($0 + 1)...]) } ?? plain
    return Set([whole, plain, last]).compactMap { distance(typed, $0) }.min()
  }

  /// Returns the part of a name before the first round bracket, without the arguments in angle brackets.
  private static func withoutArguments(_ name: [Character]) -> [Character] {
    var result: [Character] = []
    var depth = 0
    var previous: Character = " "
    for character in name {
      if character == "(", depth == 0 { break }
      if character == "<" {
        depth += 1
      } else if character == ">", depth > 0, previous != "-" {
        depth -= 1
      } else if depth == 0 {
        result.append(character)
      }
      previous = character
    }
    return result
  }

  /// Returns the number of typing errors between two words; nil if there are too many.
  private static func distance(_ typed: [Character], _ meant: [Character]) -> Int? {
    let limit = min(max(1, (max(typed.count, meant.count) - 1) / 3), maxSlips)
    let isBeginning = typed.count >= minBeginning && meant.starts(with: typed)
    if abs(typed.count - meant.count) > limit { return isBeginning ? limit + 1 : nil }
    let slips = slips(typed, meant)
    return slips <= limit ? slips : isBeginning ? limit + 1 : nil
  }

  private static let maxSlips = 3
  /// The fewest letters of a word's beginning that suggest the word.
  private static let minBeginning = 3

  /// Counts missing, added, changed and swapped letters: the optimal string alignment distance. O(a · b).
  private static func slips(_ a: [Character], _ b: [Character]) -> Int {
    var beforeLast = [Int](repeating: 0, count: b.count + 1)
    var last = Array(0...b.count)
    for i in a.indices {
      var row = [i + 1] + [Int](repeating: 0, count: b.count)
      for j in b.indices {
        row[j + 1] = min(last[j] + (a[i] == b[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { row[j + 1] = min(row[j + 1], beforeLast[j - 1] + 1) }
      }
      (beforeLast, last) = (last, row)
    }
    return last[b.count]
  }
}
