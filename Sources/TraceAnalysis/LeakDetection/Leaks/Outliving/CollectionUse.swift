// When the program went through a collection.

import HeapAnalysis
import TraceReading

/// How a program went through a collection, by the retains of the collection's memory. Code that goes through a
/// collection retains the memory, even where the compiler retains no element. Code that appends does not. Seen with
/// Swift 6.3.1 at `-O` and `-Onone`.
enum CollectionUse: String {
  /// Never after the last element was added.
  case unread = "not read"
  /// After the last element was added, and not before.
  case readInTheEnd = "read once all were there"
  /// Now and then: in two or more short periods.
  case swept = "read now and then"
  /// Over and over.
  case used = "read over and over"

  /// - Parameter storage: the collection's memory. A collection that grows moves to new memory, so that this one has seen
  ///   the last half of the growth.
  /// - Parameter last: the ordinal of the last element.
  init(of storage: LiveBlock, last: UInt64) {
    let growth = last - min(last, storage.ordinal)
    // Bits for ages during the growth. The last of them may be later as well.
    let early = (UInt64(1) << LiveBlock.ageBit(growth)) - 1
    let ages = UInt64(storage.useAges)
    let isLate = UInt64(storage.lastUse) * LiveBlock.useUnit > last + LiveBlock.useUnit
    if ages & early == 0 {
      self = isLate ? .readInTheEnd : .unread
    } else {
      self = Self.isSparse(ages) ? .swept : .used
    }
  }

  /// Octaves of one period of use, at most: its beginning and its end may fall into the next ones.
  private static let period = 3

  /// Two periods or more, none of them long.
  private static func isSparse(_ ages: UInt64) -> Bool {
    var (rest, periods) = (ages, 0)
    while rest != 0 {
      rest >>= rest.trailingZeroBitCount
      let length = (~rest).trailingZeroBitCount
      guard length <= period else { return false }
      periods += 1
      rest >>= length
    }
    return periods > 1
  }
}
