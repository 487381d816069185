// The stack of one thread's latest event, as its frames come and go.

import CTraceFormat

/// Frame keys, the outermost first, and the tree's nodes for the outer part of them. Owns its memory; the owner calls
/// `deallocate`. Above a small start it requests room from the tree, which has the limits for the file's size.
struct FrameStack: @unchecked Sendable {
  private(set) var keys: UnsafeMutablePointer<UInt64>
  private var nodes: UnsafeMutablePointer<UInt32>
  private var capacity: Int
  private(set) var depth = 0
  /// The number of outermost keys with a known node.
  private var resolved = 0
  /// The least depth since it was last set.
  var lowest = 0

  /// Deeper than any recorder goes: 2^20 frames and the callers of a task.
  static let depthLimit = (1 << 20) + 4096

  private static let startCapacity = 256

  init() {
    capacity = Self.startCapacity
    keys = .allocate(capacity: capacity)
    nodes = .allocate(capacity: capacity)
  }

  /// Without memory: not to be used, only to be replaced.
  private init(placeholder address: UInt) {
    capacity = 0
    keys = UnsafeMutablePointer(bitPattern: address)!
    nodes = UnsafeMutablePointer(bitPattern: address)!
  }
  static let unopened = FrameStack(placeholder: 16)

  func deallocate(_ tree: StackTree) {
    tree.returnFrames(capacity - Self.startCapacity)
    keys.deallocate()
    nodes.deallocate()
  }

  mutating func removeAll() {
    depth = 0
    lowest = 0
    resolved = 0
  }

  @inline(__always)
  var innermost: UInt64 { depth > 0 ? keys[depth - 1] : 0 }
  @inline(__always)
  var nextInnermost: UInt64 { depth > 1 ? keys[depth - 2] : 0 }

  /// False if there are not as many.
  @inline(__always)
  mutating func pop(_ count: Int) -> Bool {
    if count > depth { return false }
    depth -= count
    if lowest > depth { lowest = depth }
    if resolved > depth { resolved = depth }
    return true
  }

  /// Returns the place to store `count` keys before the call of `take`; nil at the depth limit, or beyond the limit of
  /// frames for the file's size. The keys further out precede that place.
  @inline(__always)
  mutating func room(for count: Int, in tree: Unmanaged<StackTree>) -> UnsafeMutablePointer<UInt64>? {
    if count > capacity &- depth, !grow(count, tree.takeUnretainedValue()) { return nil }
    return keys + depth
  }

  /// Returns whether `count` more keys fit at the inner end without more memory.
  @inline(__always)
  func hasRoom(for count: Int) -> Bool { count <= capacity &- depth }

  /// The place of the next key.
  @inline(__always)
  var innerEnd: UnsafeMutablePointer<UInt64> { keys + depth }

  /// Makes the keys that were put in place a part of the stack.
  @inline(__always)
  mutating func take(_ count: Int) { depth &+= count }

  @inline(never)
  private mutating func grow(_ count: Int, _ tree: StackTree) -> Bool {
    let needed = depth + count
    if needed > Self.depthLimit { return false }
    var newCapacity = capacity
    while newCapacity < needed { newCapacity *= 2 }
    if !tree.reserveFrames(newCapacity - capacity) { return false }
    let newKeys = UnsafeMutablePointer<UInt64>.allocate(capacity: newCapacity)
    newKeys.moveInitialize(from: keys, count: depth)
    keys.deallocate()
    keys = newKeys
    let newNodes = UnsafeMutablePointer<UInt32>.allocate(capacity: newCapacity)
    newNodes.moveInitialize(from: nodes, count: resolved)
    nodes.deallocate()
    nodes = newNodes
    capacity = newCapacity
    return true
  }

  /// The whole stack's node. Costs a look-up for each frame pushed since the last time.
  @inline(__always)
  mutating func resolve(in tree: StackTree, time: UInt64) -> StackID {
    if depth == 0 { return .empty }
    var node = resolved > 0 ? nodes[resolved - 1] : 0
    while resolved < depth {
      // A call from a stack that was not kept is not kept either.
      if node != StackID.unknown.rawValue { node = tree.child(of: node, key: keys[resolved], time: time) }
      nodes[resolved] = node
      resolved += 1
    }
    return StackID(node)
  }
}
