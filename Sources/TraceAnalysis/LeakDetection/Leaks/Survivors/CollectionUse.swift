// Finds out when a program iterated over a collection.

import HeapAnalysis
import TraceReading

/// How a program iterated over a collection, as the retains of the collection's memory show. Code that iterates over a
/// collection retains the memory, even if the compiler retains no element. Code that appends does not. Seen with Swift
/// 6.3.1 at `-O` and `-Onone`.
enum CollectionUse: String {
  /// Neither during the growth nor after the last element was added.
  case unread = "not read"
  /// Only after the last element was added.
  case readInTheEnd = "read once all were there"
  /// During the growth, in two or more short periods.
  case swept = "read now and then"
  /// During the growth, over and over.
  case used = "read over and over"

  /// - Parameter storage: the collection's memory. A growing collection moves to new memory, so this memory has seen
  ///   the last half of the growth.
  /// - Parameter last: the ordinal of the last element.
  init(of storage: LiveBlock, last: UInt64) {
    let growth = last - min(last, storage.ordinal)
    // The bits of ages during the growth. The bit of the last age is left out, since it also covers later uses.
    let early = (UInt64(1) << LiveBlock.ageBit(growth)) - 1
    let ages = UInt64(storage.useAges)
    let isLate = UInt64(storage.lastUse) * LiveBlock.useUnit > last + LiveBlock.useUnit
    if ages & early == 0 {
      self = isLate ? .readInTheEnd : .unread
    } else {
      self = Self.isSparse(ages) ? .swept : .used
    }
  }

  /// Maximum number of octaves in one period of use. The period's beginning and end may fall into the neighbouring
  /// octaves.
  private static let period = 3

  /// Returns whether there are two or more periods, none of them long.
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
