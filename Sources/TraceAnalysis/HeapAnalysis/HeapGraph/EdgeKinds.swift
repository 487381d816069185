// The kinds of edges that an algorithm follows.

/// A set of edge kinds. Callers give the kinds their meaning (strong, weak, conservative, ...): the graph knows eight
/// numbers.
package struct EdgeKinds: OptionSet, Hashable, Sendable {
  /// Bit `k` is set if kind `k` is in the set.
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The set of one kind, which is below `count`.
  package init(kind: UInt8) {
    precondition(kind < Self.count, "no such edge kind")
    rawValue = 1 << kind
  }

  /// The number of kinds there can be.
  package static let count: UInt8 = 8
  package static let all = EdgeKinds(rawValue: .max)
}

/// The cost of using an edge in a path, by the edge's kind: 0 to 255. Paths of the least total cost are preferred. With
/// conservative edges at 255 and exact ones at 1, a path takes a conservative edge only where it saves more than 254
/// exact ones.
package struct EdgeCosts: Hashable, Sendable {
  /// Byte `k` is the cost of kind `k`.
  private var bytes: UInt64

  /// Every kind costs 1: a path's cost is its length.
  package static let uniform = EdgeCosts(default: 1)

  package init(default cost: UInt8) { bytes = UInt64(cost) &* 0x0101_0101_0101_0101 }

  /// The cost of a kind, which is below `EdgeKinds.count`.
  package subscript(kind: UInt8) -> UInt8 {
    @inline(__always) get { UInt8(truncatingIfNeeded: bytes &>> (UInt64(kind) &* 8)) }
    set {
      precondition(kind < EdgeKinds.count, "no such edge kind")
      bytes = bytes & ~(0xFF << (UInt64(kind) * 8)) | UInt64(newValue) << (UInt64(kind) * 8)
    }
  }

  /// The highest cost of the kinds in a set; 0 for none.
  func highest(of kinds: EdgeKinds) -> UInt8 {
    (0..<EdgeKinds.count).reduce(0) { kinds.contains(EdgeKinds(kind: $1)) ? max($0, self[$1]) : $0 }
  }
}
