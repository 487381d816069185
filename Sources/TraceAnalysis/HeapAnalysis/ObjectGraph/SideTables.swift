// Side tables, which hold the counts of Swift objects with weak references.

import CHeapScan
import TraceReading

/// A block of the runtime that holds one object's address, then its counts. Weak references lead to the side table, not
/// to the object. They keep the side table allocated until the last of them ends, even after the object's memory is
/// freed and reused. A side table owns nothing.
enum SideTable {
  /// The size of a side table.
  static let size = UInt64(SWIFT_SIDE_TABLE_SIZE)
  static let countsOffset = UInt64(SWIFT_SIDE_TABLE_COUNTS)
  static let weakCountOffset = UInt64(SWIFT_SIDE_TABLE_WEAK_COUNT)
  /// The counts of a freed object: it is deinitialised, and no unowned reference remains.
  static let freedCounts = LT_FREED_OBJECT_COUNTS

  /// Returns the object of a side table; nil if the object is gone. The object's count word must lead back to the side
  /// table; otherwise another object may use the memory now. Expected constant time.
  static func object(of table: UInt64, in image: HeapImage, _ heap: LiveHeap) -> BlockID? {
    guard let object = image.word(at: table), let found = heap.block(containing: object), heap[found].address == object,
      let bits = image.word(at: object &+ UInt64(SWIFT_OBJECT_COUNTS)), ReferenceCount.sideTable(bits) == table
    else { return nil }
    return found
  }

  /// Returns whether a block that is not an object may be the side table of an object that is gone. The heap image
  /// keeps only words that may be addresses, so it may lack the counts. Then the block may be one.
  static func mayBeOrphan(_ block: LiveBlock, isListed: Bool, in image: HeapImage) -> Bool {
    guard block.mayHaveSize(size, isListed: isListed) else { return false }
    guard let counts = image.word(at: block.address &+ countsOffset) else { return true }
    return counts == freedCounts
  }

  /// Returns whether a block that is not an object has the size and counts of a freed object's side table.
  static func isOrphan(_ block: LiveBlock, isListed: Bool, in image: HeapImage) -> Bool {
    block.mayHaveSize(size, isListed: isListed) && image.word(at: block.address &+ countsOffset) == freedCounts
      && image.word(at: block.address) != nil
  }
}
