// Numbers of blocks with their bytes.

/// A sum over blocks.
package struct BlockSum: Hashable, Sendable {
  package var blocks: UInt64
  package var bytes: UInt64

  package init(blocks: UInt64 = 0, bytes: UInt64 = 0) { (self.blocks, self.bytes) = (blocks, bytes) }

  /// Adds a block of so many bytes.
  package mutating func add(_ size: UInt64) {
    blocks += 1
    bytes &+= size
  }
}
