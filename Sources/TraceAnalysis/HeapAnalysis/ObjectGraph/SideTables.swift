// Side tables of Swift objects: they have the counts of objects that weak references lead to.

import TraceReading

/// A block of the runtime with the counts of one object: the object's address, then its counts. Weak references lead to
/// it, and keep it while there are any, even when the object is gone and its memory is reused. It owns nothing.
///
/// Source: swiftlang/swift, stdlib/public/SwiftShims/swift/shims/RefCount.h; seen with Swift 6.1.2 and 6.3.1.
enum SideTable {
  /// The size that the runtime allocates.
  static let size: UInt64 = 32
  static let countsOffset: UInt64 = 16
  static let weakCountOffset: UInt64 = 24
  /// The counts once the object was freed: deinitialised, no unowned reference left.
  static let freedCounts: UInt64 = 1 << 32 | 1

  /// The object of a table; nil if it is gone. A live object's count word leads back to its table; without that,
  /// another object may have the memory. Expected constant time.
  static func object(of table: UInt64, in image: HeapImage, _ heap: LiveHeap) -> BlockID? {
    guard let object = image.word(at: table), let found = heap.block(containing: object), heap[found].address == object,
      let bits = image.word(at: object &+ 8), ReferenceCount.sideTable(bits) == table
    else { return nil }
    return found
  }

  /// Returns whether a block that is no object may be a table without a live object: a table's counts are no address.
  static func mayBeOrphan(_ block: LiveBlock, isListed: Bool, in image: HeapImage) -> Bool {
    guard block.mayHaveSize(size, isListed: isListed) else { return false }
    guard let counts = image.word(at: block.address &+ countsOffset) else { return true }
    return counts == freedCounts
  }

  /// Returns whether a block that is no object has the size and counts of a freed object's table.
  static func isOrphan(_ block: LiveBlock, isListed: Bool, in image: HeapImage) -> Bool {
    block.mayHaveSize(size, isListed: isListed) && image.word(at: block.address &+ countsOffset) == freedCounts
      && image.word(at: block.address) != nil
  }
}
