// The stack of the latest event of one thread.

import CTraceFormat

/// Frame keys, the outermost first, and the nodes of the tree of stacks for the outer keys. Owns its memory; the owner
/// must call `deallocate`. To grow beyond a small start, it needs permission from the tree, which has the limits for
/// the file's size.
struct FrameStack: @unchecked Sendable {
  private(set) var keys: UnsafeMutablePointer<UInt64>
  private var nodes: UnsafeMutablePointer<UInt32>
  private var capacity: Int
  private(set) var depth = 0
  /// The number of outermost keys whose nodes are known.
  private var resolved = 0
  /// The least depth since this was last set.
  var lowest = 0

  /// The most frames of a stack. No recorder writes more: it writes at most 2^20 frames and the callers of a task.
  static let depthLimit = (1 << 20) + 4096

  private static let startCapacity = 256

  init() {
    capacity = Self.startCapacity
    keys = .allocate(capacity: capacity)
    nodes = .allocate(capacity: capacity)
  }

  /// Makes a placeholder without memory, which must be replaced before it is used.
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

  /// Removes the `count` innermost keys. False if there are fewer.
  @inline(__always)
  mutating func pop(_ count: Int) -> Bool {
    if count > depth { return false }
    depth -= count
    if lowest > depth { lowest = depth }
    if resolved > depth { resolved = depth }
    return true
  }

  /// Returns the memory where the caller stores `count` keys before it calls `take`. The keys of the outer frames are
  /// before it. Nil if this would exceed the depth limit, or the limit on frames for the file's size.
  @inline(__always)
  mutating func room(for count: Int, in tree: Unmanaged<StackTree>) -> UnsafeMutablePointer<UInt64>? {
    if count > capacity &- depth, !grow(count, tree.takeUnretainedValue()) { return nil }
    return keys + depth
  }

  /// Returns whether `count` more keys fit at the inner end without more memory.
  @inline(__always)
  func hasRoom(for count: Int) -> Bool { count <= capacity &- depth }

  /// The memory for the next key.
  @inline(__always)
  var innerEnd: UnsafeMutablePointer<UInt64> { keys + depth }

  /// Adds to the stack `count` keys that the caller has stored at `innerEnd`.
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

  /// Returns the node of the whole stack. Takes one look-up for each frame that was pushed since the previous call.
  @inline(__always)
  mutating func resolve(in tree: StackTree, time: UInt64) -> StackID {
    if depth == 0 { return .empty }
    var node = resolved > 0 ? nodes[resolved - 1] : 0
    while resolved < depth {
      // If the caller's stack was not kept, this stack is not kept either.
      if node != StackID.unknown.rawValue { node = tree.child(of: node, key: keys[resolved], time: time) }
      nodes[resolved] = node
      resolved += 1
    }
    return StackID(node)
  }
}
