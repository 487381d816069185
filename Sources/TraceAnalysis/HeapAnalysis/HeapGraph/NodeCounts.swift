// A count for each node, usually a small one.

/// Counts that begin at 0, one for each node. For one thread at a time.
///
/// Memory: 1 byte a node, in whole pages, and a dictionary entry for each count above 254.
package final class NodeCounts {
  private let low: NodeTable<UInt8>
  /// The counts above 254.
  private var high: [NodeID: UInt32] = [:]

  init(count: Int) { low = NodeTable(zeroed: count) }

  /// A node's count; traps if there is no such node. Constant time.
  package subscript(_ node: NodeID) -> UInt32 {
    @inline(__always) get {
      let count = low[node]
      return count < .max ? UInt32(count) : high[node] ?? UInt32(count)
    }
  }

  /// Adds 1 to the count of a node, which must exist.
  @inline(__always)
  func increment(_ node: NodeID) {
    let place = low.start + Int(node)
    if place.pointee < .max - 1 { place.pointee &+= 1 } else { incrementHigh(node) }
  }

  @inline(never)
  private func incrementHigh(_ node: NodeID) {
    high[node, default: UInt32(UInt8.max) - 1] += 1
    low.start[Int(node)] = .max
  }
}
