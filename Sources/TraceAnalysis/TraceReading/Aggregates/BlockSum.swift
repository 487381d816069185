// The number and the total size of some blocks.

/// The number of some blocks, and the sum of their sizes.
package struct BlockSum: Hashable, Sendable {
  package var blocks: UInt64
  package var bytes: UInt64

  package init(blocks: UInt64 = 0, bytes: UInt64 = 0) { (self.blocks, self.bytes) = (blocks, bytes) }

  /// Adds a block of `size` bytes.
  package mutating func add(_ size: UInt64) {
    blocks += 1
    bytes &+= size
  }
}
