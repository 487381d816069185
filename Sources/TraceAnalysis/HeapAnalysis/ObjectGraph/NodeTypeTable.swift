// The type of each block.

/// The index of each block's type. Copies share memory until one of them changes.
///
/// Memory: 2 bytes a block, or 4 bytes once an index does not fit 2 bytes.
package struct NodeTypeTable {
  private var narrow: [UInt16]
  /// Replaces `narrow` if not empty.
  private var wide: [UInt32] = []

  /// Makes a table that gives each block the first type.
  init(count: Int) { narrow = Array(repeating: 0, count: count) }

  /// The index of a block's type. Traps if there is no such block. Constant time; O(blocks) when the first index that
  /// does not fit 2 bytes is set.
  package subscript(_ block: Int) -> UInt32 {
    @inline(__always) get { wide.isEmpty ? UInt32(narrow[block]) : wide[block] }
    set {
      if wide.isEmpty {
        if let index = UInt16(exactly: newValue) {
          narrow[block] = index
          return
        }
        wide = narrow.map { UInt32($0) }
        narrow = []
      }
      wide[block] = newValue
    }
  }
}
