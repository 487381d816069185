// Sets of nodes.

import TraceReading

/// A set of numbers below a fixed bound, as a bit for each number. Used for nodes and for components. Any number of
/// threads may read a set while no thread changes it.
package final class NodeSet: @unchecked Sendable {
  let words: UnsafeMutablePointer<UInt64>
  private let wordCount: Int
  /// All members are below this number.
  package let bound: Int

  /// Makes an empty set. Memory: a bit for each number below `bound`.
  package init(bound: Int) {
    self.bound = bound
    wordCount = (bound + 63) / 64
    words = TableMemory.allocate(UInt64.self, capacity: wordCount)
    words.initialize(repeating: 0, count: wordCount)
  }

  package convenience init(_ members: some Sequence<UInt32>, bound: Int) {
    self.init(bound: bound)
    for member in members { insert(member) }
  }

  /// Makes a separate set with the same members.
  package convenience init(copying other: NodeSet) {
    self.init(bound: other.bound)
    words.update(from: other.words, count: wordCount)
  }

  deinit { TableMemory.deallocate(words) }

  /// Returns whether a number is in the set; false for numbers not below the bound. Constant time.
  package func contains(_ member: UInt32) -> Bool {
    Int(member) < bound && words[Int(member) &>> 6] &>> UInt64(member & 63) & 1 != 0
  }

  /// Adds a number. Returns true if it was not yet a member. Traps unless the number is below the bound. Constant time.
  @discardableResult
  package func insert(_ member: UInt32) -> Bool {
    precondition(Int(member) < bound, "beyond the bound of the set")
    return Self.insert(member, into: words)
  }

  /// Removes a number. Does nothing if the number is not a member. Constant time.
  package func remove(_ member: UInt32) {
    if Int(member) < bound { words[Int(member) >> 6] &= ~(1 << UInt64(member & 63)) }
  }

  /// Adds a number without a check of the bound. Returns true if it was not yet a member.
  @inline(__always)
  static func insert(_ member: UInt32, into words: UnsafeMutablePointer<UInt64>) -> Bool {
    let bit: UInt64 = 1 &<< UInt64(member & 63)
    let word = words + Int(member) &>> 6
    if word.pointee & bit != 0 { return false }
    word.pointee |= bit
    return true
  }

  /// The number of members. O(bound).
  package var count: Int { (0..<wordCount).reduce(0) { $0 + words[$1].nonzeroBitCount } }

  /// O(bound).
  package var isEmpty: Bool { (0..<wordCount).allSatisfy { words[$0] == 0 } }

  /// Adds the members of a set with the same bound. O(bound).
  package func formUnion(_ other: NodeSet) { combine(other) { $0 | $1 } }

  /// Keeps the members that are also in a set with the same bound. O(bound).
  package func formIntersection(_ other: NodeSet) { combine(other) { $0 & $1 } }

  /// Removes the members of a set with the same bound. O(bound).
  package func subtract(_ other: NodeSet) { combine(other) { $0 & ~$1 } }

  private func combine(_ other: NodeSet, _ operation: (UInt64, UInt64) -> UInt64) {
    precondition(other.bound == bound, "sets of different bounds")
    for index in 0..<wordCount { words[index] = operation(words[index], other.words[index]) }
  }

  /// Every number below the bound that is not in this set. O(bound).
  package var complement: NodeSet {
    let result = NodeSet(bound: bound)
    for index in 0..<wordCount { result.words[index] = ~words[index] }
    if bound % 64 != 0 { result.words[wordCount - 1] &= 1 << UInt64(bound % 64) - 1 }
    return result
  }

  /// Calls `body` with every member in ascending order. `body` may remove that member, but must not change the set
  /// otherwise. O(bound).
  package func forEach<Failure>(_ body: (UInt32) throws(Failure) -> Void) throws(Failure) {
    for index in 0..<wordCount {
      var word = words[index]
      while word != 0 {
        try body(UInt32(truncatingIfNeeded: index &* 64 &+ word.trailingZeroBitCount))
        word &= word &- 1
      }
    }
  }

  /// All members in ascending order. O(bound).
  package var members: [UInt32] {
    var result: [UInt32] = []
    forEach { result.append($0) }
    return result
  }
}
