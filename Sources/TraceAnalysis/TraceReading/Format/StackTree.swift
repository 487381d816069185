// The call stacks of a trace, as a tree of frames that grows as events are read.

import CTraceFormat

/// A frame of a stack in a trace.
package struct StackFrame: Hashable, Sendable {
  package var key: FrameKey
  /// The index of the frame's image in the trace's images; nil if no image covered the address.
  package var image: Int?

  package init(key: FrameKey, image: Int?) { (self.key, self.image) = (key, image) }
}

/// Frames from the innermost outwards, and the reason why they end.
package struct StackPath: Hashable, Sendable {
  package enum End: Hashable, Sendable {
    case complete
    /// The recorder cut the stack there, or the reader did at its own limit.
    case cut
    /// The stack was not looked up, or the file had more stacks than its size allows.
    case undefined
  }
  package var frames: [StackFrame]
  package var end: End
}

/// All stacks that were read so far. Equal stacks have the same node, and parents have lower numbers than their
/// children. The tree grows while events are read from its trace. Memory: 22 to 29 bytes for each node. For one thread
/// at a time, except for `parent` and `ancestor`: nodes never move or change, so another thread may look up the parents
/// of stacks that it was given.
///
/// Nodes are numbered in the order of their first use, and programs meet the same stacks in the same order again. So
/// the search for a node first tries a few slots by the parent's number, and then slots by the hash. Nothing is ever
/// removed, so the first empty slot ends the search.
package final class StackTree: @unchecked Sendable {
  private struct Node: BitwiseCopyable {
    var key: UInt64
    var parent: UInt32
    /// Index into the trace's images; −1 for none; `anyTime` if the frame's image is the same at all times, so that
    /// `frame(of:)` finds it.
    var image: Int32
    static let anyTime: Int32 = -2
  }

  /// The memory of each segment. The array has room for the highest possible number of segments.
  private let segments: UnsafeMutablePointer<UnsafeMutablePointer<Node>>
  private var segmentCount = 0
  private static let segmentBits = 17
  /// Bytes of a segment and of the slots for its nodes.
  private static let segmentBytes: UInt64 = (16 + 8) << UInt64(segmentBits)
  private var slots: UnsafeMutablePointer<UInt32>
  private var mask: Int
  private var imageIndex = ImageIndex(images: [])
  private var nodeLimit = Int(Int32.max)
  /// The number of further frames that decoders may keep of their current stacks.
  private var spareFrames = Int(Int32.max)

  /// The number of further frames that copy tokens may push in this pass.
  private var spareCopies = UInt64.max
  private var copyLimit = UInt64.max
  /// The memory budget; nil if there is none.
  private var budget: ReadingBudget?

  /// The number of distinct stacks, including the empty and the unknown stack.
  package private(set) var nodeCount = 2
  /// The number of stacks that were not kept, and of frames that were not pushed, because they exceeded a limit.
  private(set) var overflowCount: UInt64 = 0

  package init() {
    segments = .allocate(capacity: (Int(Int32.max) >> Self.segmentBits) + 1)
    mask = 4095
    slots = TableMemory.allocatePart(UInt32.self, capacity: mask + 1)
    addSegment()
    segments[0].initialize(repeating: Node(key: 0, parent: 0, image: -1), count: 2)
  }

  deinit {
    for index in 0..<segmentCount { TableMemory.deallocatePart(segments[index], capacity: 1 << Self.segmentBits) }
    segments.deallocate()
    TableMemory.deallocatePart(slots, capacity: mask + 1)
  }

  @inline(__always)
  private func node(_ number: UInt32) -> UnsafeMutablePointer<Node> {
    segments[Int(number &>> UInt32(Self.segmentBits))] + Int(number & (1 &<< UInt32(Self.segmentBits) &- 1))
  }

  private func addSegment() {
    segments[segmentCount] = TableMemory.allocatePart(
      Node.self, capacity: 1 << Self.segmentBits, isSparse: segmentCount == 0)
    segmentCount += 1
  }

  /// Sets the images and the limits. Must be called before the first stack is added.
  func prepare(images: [TraceImage], limits: ReadingLimits, budget: ReadingBudget? = nil) {
    self.budget = budget
    imageIndex = ImageIndex(images: images)
    nodeLimit = limits.stackCount
    // The limit counts the decoders' capacity, which grows by doubling. Several decoders may be open.
    spareFrames = limits.decoderFrames
    copyLimit = limits.copiedFrames
    spareCopies = copyLimit
  }

  /// Begins a pass over the events, and restarts the count of copied frames.
  func beginPass() { spareCopies = copyLimit }

  /// Counts `count` frames of a copy token against the limit. False if the limit does not allow as many.
  func takeCopies(_ count: UInt64) -> Bool {
    if count > spareCopies {
      overflowCount &+= count
      return false
    }
    spareCopies -= count
    return true
  }

  /// Counts `count` frames of a decoder's stack against the limit. False if the limit does not allow as many.
  func reserveFrames(_ count: Int) -> Bool {
    if count > spareFrames || budget.map({ !$0.mayGoOn(adding: UInt64(count) * 12) }) ?? false { return false }
    spareFrames -= count
    return true
  }

  func returnFrames(_ count: Int) { spareFrames += count }

  /// Returns the caller's stack. The empty and the unknown stack are their own parents.
  package func parent(of stack: StackID) -> StackID {
    stack.rawValue < 2 ? stack : StackID(node(stack.rawValue).pointee.parent)
  }

  /// Returns the stack of the caller `distance` calls further out.
  func ancestor(of stack: StackID, distance: Int32) -> StackID {
    var stack = stack
    for _ in 0..<max(0, distance) { stack = parent(of: stack) }
    return stack
  }

  /// Returns the innermost frame; nil for the empty and the unknown stack, and at the point where a stack was cut.
  package func frame(of stack: StackID) -> StackFrame? {
    guard stack.rawValue > 1, Int(stack.rawValue) < nodeCount else { return nil }
    let node = node(stack.rawValue).pointee
    let key = FrameKey(encoded: node.key)
    if key.address.rawValue == 0 { return nil }
    let image =
      node.image == Node.anyTime ? imageIndex.image(covering: key.lookupAddress, time: 0) : Int(node.image)
    return StackFrame(key: key, image: image.flatMap { $0 < 0 ? nil : $0 })
  }

  /// The most frames of a path. Recorders do not record deeper stacks by default. For deeper recursions, the innermost
  /// frames are enough to identify the stack.
  package static let pathLimit = 1 << 12

  /// Returns the frames of a stack, the innermost first, at most `pathLimit` frames. Linear in their number.
  package func path(of stack: StackID) -> StackPath { path(of: stack, limit: Self.pathLimit) }

  /// Returns the frames of a stack, the innermost first, at most `limit` frames.
  package func path(of stack: StackID, limit: Int) -> StackPath {
    var path = StackPath(frames: [], end: .complete)
    var node = stack
    while node.rawValue > 1 {
      if path.frames.count == limit {
        path.end = .cut
        return path
      }
      if let frame = frame(of: node) { path.frames.append(frame) } else { path.end = .cut }
      node = parent(of: node)
    }
    if node == .unknown { path.end = .undefined }
    return path
  }

  /// Returns the stack with the innermost frame `key` (in the trace's encoding) and the caller `parent`, at a time in
  /// ticks. Adds the stack if it is new. Expected constant time.
  @inline(__always)
  func child(of parent: UInt32, key: UInt64, time: UInt64) -> UInt32 {
    // If several images used the same address, it may mean different frames at different times.
    let image = imageIndex.isAmbiguous ? self.image(of: key, time: time) : -2
    var slot = nearby(parent, key)
    for _ in 0..<Self.nearbyPlaces {
      let number = slots[slot]
      if number == 0 { return add(parent: parent, key: key, time: time, slot: slot) }
      let node = node(number)
      if node.pointee.key == key, node.pointee.parent == parent, image == -2 || node.pointee.image == image {
        return number
      }
      slot = (slot &+ 1) & mask
    }
    // The following search waits for memory at each step. Once a file has twice as many stacks as its size allows,
    // further stacks are not searched for.
    if overflowCount > UInt64(nodeLimit) {
      overflowCount += 1
      return StackID.unknown.rawValue
    }
    slot = Self.hash(parent, key) & mask
    while true {
      let number = slots[slot]
      if number == 0 { return add(parent: parent, key: key, time: time, slot: slot) }
      let node = node(number)
      if node.pointee.key == key, node.pointee.parent == parent, image == -2 || node.pointee.image == image {
        return number
      }
      slot = (slot &+ 1) & mask
    }
  }

  /// Returns the stack of frame keys, the outermost first. Adds the stack if it is new.
  package func stack(_ keys: [UInt64], time: UInt64 = 0) -> StackID {
    var node: UInt32 = 0
    for key in keys { node = child(of: node, key: key, time: time) }
    return StackID(node)
  }

  /// Returns the frame keys of a stack, the outermost first.
  package func keys(of stack: StackID) -> [UInt64] {
    var result: [UInt64] = []
    var node = stack
    while node.rawValue > 1 {
      result.append(self.node(node.rawValue).pointee.key)
      node = parent(of: node)
    }
    return result.reversed()
  }

  private static let nearbyPlaces = 24

  /// Returns the slot where the search for a node's children begins. The children of one parent are spread by their
  /// keys.
  @inline(__always)
  private func nearby(_ parent: UInt32, _ key: UInt64) -> Int {
    (Int(parent) &+ Int(parent) &>> 1 &+ Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> 61)) & mask
  }

  @inline(__always)
  private static func hash(_ parent: UInt32, _ key: UInt64) -> Int {
    let h = (key ^ UInt64(parent) &<< 27) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: (h ^ h >> 29) >> 8)
  }

  private func image(of key: UInt64, time: UInt64) -> Int32 {
    if imageIndex.isTimeless { return Node.anyTime }
    let frame = FrameKey(encoded: key)
    if frame.address.rawValue == 0 { return -1 }
    return Int32(imageIndex.image(covering: frame.lookupAddress, time: time) ?? -1)
  }

  @inline(never)
  private func add(parent: UInt32, key: UInt64, time: UInt64, slot: Int) -> UInt32 {
    if parent == StackID.unknown.rawValue || nodeCount >= nodeLimit {
      overflowCount += 1
      return StackID.unknown.rawValue
    }
    if nodeCount == segmentCount << Self.segmentBits {
      guard budget?.mayGoOn(adding: Self.segmentBytes) ?? true else {
        overflowCount += 1
        return StackID.unknown.rawValue
      }
      addSegment()
    }
    let number = UInt32(nodeCount)
    node(number).initialize(to: Node(key: key, parent: parent, image: image(of: key, time: time)))
    slots[slot] = number
    nodeCount += 1
    if nodeCount > mask / 8 * 5 { growSlots() }
    return number
  }

  private func growSlots() {
    TableMemory.deallocatePart(slots, capacity: mask + 1)
    mask = mask * 2 + 1
    slots = TableMemory.allocatePart(UInt32.self, capacity: mask + 1)
    for number in 2..<UInt32(nodeCount) {
      slots[emptyPlace(node(number).pointee.parent, node(number).pointee.key)] = number
    }
  }

  /// Returns the first empty slot on the search path of a node.
  private func emptyPlace(_ parent: UInt32, _ key: UInt64) -> Int {
    var slot = nearby(parent, key)
    for _ in 0..<Self.nearbyPlaces {
      if slots[slot] == 0 { return slot }
      slot = (slot + 1) & mask
    }
    slot = Self.hash(parent, key) & mask
    while slots[slot] != 0 { slot = (slot + 1) & mask }
    return slot
  }
}

extension FrameKey {
  /// Decodes a frame key from its number in the trace.
  package init(encoded key: UInt64) {
    let isAsync = key & LT_FRAME_ASYNC != 0
    self.init(
      address: RuntimeAddress(key & LT_FRAME_ADDRESS_MASK), isExact: isAsync || key & LT_FRAME_EXACT != 0,
      isAsync: isAsync)
  }

  /// The frame key's number in a trace.
  package var encoded: UInt64 {
    address.rawValue & LT_FRAME_ADDRESS_MASK | (isExact ? LT_FRAME_EXACT : 0) | (isAsync ? LT_FRAME_ASYNC : 0)
  }

  /// The address to look up: for a return address, an address in the call before it.
  package var lookupAddress: UInt64 { isExact || address.rawValue == 0 ? address.rawValue : address.rawValue - 1 }
}
