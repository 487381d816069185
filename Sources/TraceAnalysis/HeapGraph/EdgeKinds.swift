// Which edges of a graph an algorithm follows.

/// A set of edge kinds. What a kind means (strong, weak, conservative, ...) is the caller's business: the graph knows eight numbers.
public struct EdgeKinds: OptionSet, Hashable, Sendable {
  /// Bit `k` stands for kind `k`.
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The set of one kind, which is below `count`.
  public init(kind: UInt8) {
    precondition(kind < Self.count, "no such edge kind")
    rawValue = 1 << kind
  }

  /// How many kinds there can be.
  public static let count: UInt8 = 8
  public static let all = EdgeKinds(rawValue: .max)
}

/// What it costs a path to use an edge, by the edge's kind: 0 to 255. Paths of the least total cost are preferred. With conservative edges
/// at 255 and exact ones at 1, a path takes a conservative edge only where it saves more than 254 exact ones.
public struct EdgeCosts: Hashable, Sendable {
  /// Byte `k` is the cost of kind `k`.
  private var bytes: UInt64

  /// Every kind costs 1: a path's cost is its length.
  public static let uniform = EdgeCosts(default: 1)

  public init(default cost: UInt8) { bytes = UInt64(cost) &* 0x0101_0101_0101_0101 }

  /// The cost of a kind, which is below `EdgeKinds.count`.
  public subscript(kind: UInt8) -> UInt8 {
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
