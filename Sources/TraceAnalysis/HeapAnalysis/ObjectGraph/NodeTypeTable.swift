// The type of each block.

/// The index of each block's type. A value whose copies share their memory until one of them changes.
///
/// Memory: 2 bytes a block, and 4 once a type has an index that takes more.
package struct NodeTypeTable {
  private var narrow: [UInt16]
  /// In place of the others.
  private var wide: [UInt32] = []

  /// Each block is of the first type.
  init(count: Int) { narrow = Array(repeating: 0, count: count) }

  /// The index of a block's type. Traps if there is no such block. Constant time, except the first index that takes
  /// more than 2 bytes: O(blocks).
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
