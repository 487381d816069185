// The call stacks of a trace, as a tree of frames.

import CTraceFormat

/// A call stack, free of duplicates: equal stacks of a trace have equal nodes. 0 is the empty stack.
public struct StackNode: Hashable, Comparable, Sendable {
  public var rawValue: UInt32
  public init(_ rawValue: UInt32) { self.rawValue = rawValue }
  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

  public static let empty = StackNode(0)
  /// A stack that the trace does not define.
  public static let unknown = StackNode(1)
}

/// A frame of a stack of a trace.
public struct StackFrame: Hashable, Sendable {
  public var key: FrameKey
  /// Index into the trace's images; nil if none covered the address.
  public var image: Int?
}

/// Frames from the innermost outwards, and how far they go.
public struct StackPath: Hashable, Sendable {
  public enum End: Hashable, Sendable {
    case complete
    /// The recorder stopped there.
    case cut
    /// The trace does not say: a definition is missing or damaged.
    case undefined
  }
  public var frames: [StackFrame]
  public var end: End
}

/// All stacks of a trace. Immutable; 20 bytes a node.
public struct StackTree: Sendable {
  fileprivate(set) var parents: [UInt32] = [0, 0]
  fileprivate(set) var keys: [UInt64] = [0, 0]
  fileprivate(set) var images: [Int32] = [-1, -1]
  fileprivate var dense: [UInt32] = []
  fileprivate var sparse: [UInt32: UInt32] = [:]

  init() {}

  /// Distinct stacks, the empty one and the unknown one included.
  public var nodeCount: Int { parents.count }

  /// The node of a stack as written; `.unknown` if it is not defined. Constant time.
  public func node(of stack: StackID) -> StackNode {
    let id = stack.rawValue
    if id == 0 { return .empty }
    if Int(id) < dense.count {
      let node = dense[Int(id)]
      return node == 0 ? .unknown : StackNode(node)
    }
    return sparse[id].map { StackNode($0) } ?? .unknown
  }

  /// The caller's stack. The empty and the unknown stack are their own.
  public func parent(of node: StackNode) -> StackNode { StackNode(parents[Int(node.rawValue)]) }

  /// The innermost frame; nil for the empty and the unknown stack, and where a stack was cut.
  public func frame(of node: StackNode) -> StackFrame? {
    let index = Int(node.rawValue)
    guard index > 1, keys[index] != 0 else { return nil }
    return StackFrame(key: FrameKey(encoded: keys[index]), image: images[index] < 0 ? nil : Int(images[index]))
  }

  /// The frames of a stack, innermost first. Linear in its depth.
  public func path(of node: StackNode) -> StackPath {
    var path = StackPath(frames: [], end: .complete)
    var index = node.rawValue
    while index > 1 {
      let node = StackNode(index)
      if let frame = frame(of: node) { path.frames.append(frame) } else { path.end = .cut }
      index = parents[Int(index)]
    }
    if index == 1 { path.end = .undefined }
    return path
  }
}

extension FrameKey {
  /// LT_FRAME_ADDRESS_MASK, whose expression Swift does not import.
  private static let addressMask: UInt64 = (1 << 57) - 1

  /// From the number in the trace.
  init(encoded key: UInt64) {
    let flags = key & ~Self.addressMask
    let isAsync = flags & UInt64(LT_FRAME_ASYNC) != 0
    self.init(
      address: RuntimeAddress(key & Self.addressMask), isExact: isAsync || flags & UInt64(LT_FRAME_EXACT) != 0, isAsync: isAsync)
  }

  /// The number in a trace.
  public var encoded: UInt64 {
    address.rawValue & Self.addressMask | (isAsync ? UInt64(LT_FRAME_ASYNC) : isExact ? UInt64(LT_FRAME_EXACT) : 0)
  }

  /// The address to look up: that of the call for a return address.
  public var lookupAddress: UInt64 { isExact || address.rawValue == 0 ? address.rawValue : address.rawValue - 1 }
}

/// Collects nodes in any order and makes the tree of them.
struct StackTreeBuilder {
  private var ids: [UInt32] = []
  private var parents: [UInt32] = []
  private var keys: [UInt64] = []

  var count: Int { ids.count }

  mutating func append(id: UInt32, parent: UInt32, key: UInt64) {
    ids.append(id)
    parents.append(parent)
    keys.append(key)
  }

  /// The tree, and the number of nodes that had to be hung from the unknown stack. The first definition of an ID counts.
  /// Expected linear time; memory in proportion to the nodes, whatever their IDs.
  func build(images: ImageIndex) -> (tree: StackTree, detached: Int) {
    var tree = StackTree()
    var detached = 0
    let isDense = (ids.max().map { Int($0) } ?? 0) < 8 * ids.count + 65536
    // Position + 1 of the definition of an ID.
    var denseDefinition = [UInt32](repeating: 0, count: isDense ? (ids.max().map { Int($0) + 1 } ?? 0) : 0)
    var sparseDefinition: [UInt32: UInt32] = [:]
    for (position, id) in ids.enumerated() {
      if isDense {
        if denseDefinition[Int(id)] == 0 { denseDefinition[Int(id)] = UInt32(position + 1) }
      } else if sparseDefinition[id] == nil {
        sparseDefinition[id] = UInt32(position + 1)
      }
    }
    func definition(_ id: UInt32) -> Int? {
      if isDense {
        guard Int(id) < denseDefinition.count, denseDefinition[Int(id)] != 0 else { return nil }
        return Int(denseDefinition[Int(id)]) - 1
      }
      return sparseDefinition[id].map { Int($0) - 1 }
    }

    let unresolved: UInt32 = 0
    let inProgress = UInt32.max
    var resolved = [UInt32](repeating: unresolved, count: ids.count)
    var index = NodeIndex()
    var chain: [Int] = []
    for start in ids.indices where resolved[start] == unresolved {
      // Up to something known, then down again.
      chain.removeAll(keepingCapacity: true)
      var position = start
      var base: UInt32
      while true {
        resolved[position] = inProgress
        chain.append(position)
        if parents[position] == 0 {
          base = StackNode.empty.rawValue
          break
        }
        guard let next = definition(parents[position]), resolved[next] != inProgress else {
          base = StackNode.unknown.rawValue
          detached += 1
          break
        }
        if resolved[next] != unresolved {
          base = resolved[next]
          break
        }
        position = next
      }
      for position in chain.reversed() {
        let key = FrameKey(encoded: keys[position])
        let image = keys[position] == 0 ? nil : images.image(covering: key.lookupAddress, node: UInt64(ids[position]))
        base = index.node(parent: base, key: keys[position], image: Int32(image ?? -1), in: &tree)
        resolved[position] = base
      }
    }
    if isDense {
      tree.dense = denseDefinition.map { $0 == 0 ? 0 : resolved[Int($0) - 1] }
    } else {
      tree.sparse = sparseDefinition.mapValues { resolved[Int($0) - 1] }
    }
    return (tree, detached)
  }
}

/// Finds the child of a node by its frame, by open addressing over the tree's own arrays.
private struct NodeIndex {
  private var slots = [UInt32](repeating: 0, count: 1024)
  private var used = 0

  private static func hash(_ parent: UInt32, _ key: UInt64, _ image: Int32) -> UInt64 {
    var h = (key ^ UInt64(parent) << 20 ^ UInt64(UInt32(bitPattern: image)) << 50) &* 0x9E37_79B9_7F4A_7C15
    h ^= h >> 32
    return h &* 0xD6E8_FEB8_6659_FD93
  }

  mutating func node(parent: UInt32, key: UInt64, image: Int32, in tree: inout StackTree) -> UInt32 {
    var slot = Int(truncatingIfNeeded: Self.hash(parent, key, image) >> 32) & (slots.count - 1)
    while slots[slot] != 0 {
      let node = Int(slots[slot])
      if tree.keys[node] == key, tree.parents[node] == parent, tree.images[node] == image { return slots[slot] }
      slot = (slot + 1) & (slots.count - 1)
    }
    let node = UInt32(tree.parents.count)
    tree.parents.append(parent)
    tree.keys.append(key)
    tree.images.append(image)
    slots[slot] = node
    used += 1
    if used * 2 > slots.count { grow(tree) }
    return node
  }

  private mutating func grow(_ tree: StackTree) {
    let old = slots
    slots = [UInt32](repeating: 0, count: old.count * 2)
    for node in old where node != 0 {
      let n = Int(node)
      var slot = Int(truncatingIfNeeded: Self.hash(tree.parents[n], tree.keys[n], tree.images[n]) >> 32) & (slots.count - 1)
      while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
      slots[slot] = node
    }
  }
}
