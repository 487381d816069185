// The kinds of edges that an algorithm follows.

/// A set of edge kinds. Callers define the meaning of the kinds (strong, weak, conservative, ...): to the graph, they
/// are only numbers from 0 to 7.
package struct EdgeKinds: OptionSet, Hashable, Sendable {
  /// Bit `k` is set if kind `k` is in the set.
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Makes the set of one kind. Traps unless the kind is below `count`.
  package init(kind: UInt8) {
    precondition(kind < Self.count, "no such edge kind")
    rawValue = 1 << kind
  }

  /// The number of possible kinds.
  package static let count: UInt8 = 8
  package static let all = EdgeKinds(rawValue: .max)
}

/// The cost of an edge in a path, by the edge's kind: 0 to 255. Paths of the lowest total cost are preferred. If a
/// conservative edge costs 255 and an exact edge 1, a path takes a conservative edge only to save more than 254 exact
/// edges.
package struct EdgeCosts: Hashable, Sendable {
  /// Byte `k` is the cost of kind `k`.
  private var bytes: UInt64

  /// Every kind costs 1: a path's cost is its length.
  static let uniform = EdgeCosts(default: 1)

  package init(default cost: UInt8) { bytes = UInt64(cost) &* 0x0101_0101_0101_0101 }

  /// The cost of a kind, which must be below `EdgeKinds.count`.
  package subscript(kind: UInt8) -> UInt8 {
    @inline(__always) get { UInt8(truncatingIfNeeded: bytes &>> (UInt64(kind) &* 8)) }
    set {
      precondition(kind < EdgeKinds.count, "no such edge kind")
      bytes = bytes & ~(0xFF << (UInt64(kind) * 8)) | UInt64(newValue) << (UInt64(kind) * 8)
    }
  }

  /// Returns the highest cost of the kinds in a set; 0 for the empty set.
  func highest(of kinds: EdgeKinds) -> UInt8 {
    (0..<EdgeKinds.count).reduce(0) { kinds.contains(EdgeKinds(kind: $1)) ? max($0, self[$1]) : $0 }
  }
}
