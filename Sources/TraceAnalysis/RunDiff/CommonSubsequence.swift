// The length of the longest common subsequence of two arrays.

enum CommonSubsequence {
  /// Returns the length of the longest sequence whose elements are in both arrays in the same order. O(a · b) time,
  /// O(b) memory.
  static func length<Element: Equatable>(_ a: [Element], _ b: [Element]) -> Int {
    var row = Array(repeating: 0, count: b.count + 1)
    for x in a {
      var diagonal = 0
      for (j, y) in b.enumerated() {
        let above = row[j + 1]
        row[j + 1] = x == y ? diagonal + 1 : max(above, row[j])
        diagonal = above
      }
    }
    return row[b.count]
  }
}
