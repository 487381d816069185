// The call stacks of a trace, as a tree of frames that grows as events are read.

import CTraceFormat

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
    /// Not looked up, or more stacks than the file justifies.
    case undefined
  }
  public var frames: [StackFrame]
  public var end: End
}

/// All stacks met so far. Equal stacks have equal nodes; parents have lower numbers than their children. Grows while events are read
/// from its trace; for one thread at a time. 24 bytes a node and an eighth of that for finding them again.
public final class StackTree: @unchecked Sendable {
  private var parents: UnsafeMutablePointer<UInt32>
  private var images: UnsafeMutablePointer<Int32>
  private var keys: UnsafeMutablePointer<UInt64>
  private var capacity: Int
  private var slots: UnsafeMutablePointer<UInt32>
  private var mask: Int
  private var imageIndex = ImageIndex(images: [])
  private var nodeLimit = Int(Int32.max)
  /// Frames that decoders may still keep of the stacks they are in.
  private var spareFrames = Int(Int32.max)

  /// Distinct stacks, the empty one and the unknown one included.
  public private(set) var nodeCount = 2
  /// Stacks that were not kept, since there were more than the file justifies.
  public private(set) var overflowCount: UInt64 = 0

  public init() {
    capacity = 1024
    parents = .allocate(capacity: capacity)
    images = .allocate(capacity: capacity)
    keys = .allocate(capacity: capacity)
    for node in 0..<2 {
      parents[node] = 0
      images[node] = -1
      keys[node] = 0
    }
    mask = 4095
    slots = .allocate(capacity: mask + 1)
    slots.initialize(repeating: 0, count: mask + 1)
  }

  deinit {
    parents.deallocate()
    images.deallocate()
    keys.deallocate()
    slots.deallocate()
  }

  /// Says what images there are, before the first stack, and how large the file is: a small file may have deep stacks, but not without end.
  func prepare(images: [TraceImage], fileSize: UInt64) {
    imageIndex = ImageIndex(images: images)
    nodeLimit = Int(min(UInt64(Int32.max), (4 << 20) + min(fileSize, 1 << 40) * 32))
    spareFrames = nodeLimit
  }

  /// Whether a decoder may keep `count` more frames.
  func reserveFrames(_ count: Int) -> Bool {
    if count > spareFrames { return false }
    spareFrames -= count
    return true
  }

  func returnFrames(_ count: Int) { spareFrames += count }

  /// The caller's stack. The empty and the unknown stack are their own.
  public func parent(of stack: StackID) -> StackID { stack.rawValue < 2 ? stack : StackID(parents[Int(stack.rawValue)]) }

  /// The innermost frame; nil for the empty and the unknown stack, and where a stack was cut.
  public func frame(of stack: StackID) -> StackFrame? {
    let node = Int(stack.rawValue)
    guard node > 1, node < nodeCount else { return nil }
    let key = FrameKey(encoded: keys[node])
    if key.address.rawValue == 0 { return nil }
    return StackFrame(key: key, image: images[node] < 0 ? nil : Int(images[node]))
  }

  /// The frames of a stack, innermost first. Linear in its depth.
  public func path(of stack: StackID) -> StackPath {
    var path = StackPath(frames: [], end: .complete)
    var node = stack
    while node.rawValue > 1 {
      if let frame = frame(of: node) { path.frames.append(frame) } else { path.end = .cut }
      node = parent(of: node)
    }
    if node == .unknown { path.end = .undefined }
    return path
  }

  /// The stack that has a frame inside `parent`, by the frame's number in the trace, at a time in ticks. Expected constant time.
  @inline(__always)
  func child(of parent: UInt32, key: UInt64, time: UInt64) -> UInt32 {
    // Where addresses were used by several images, the same address may mean two frames.
    let image = imageIndex.isAmbiguous ? self.image(of: key, time: time) : -2
    var slot = Self.hash(parent, key) & mask
    while true {
      let node = slots[slot]
      if node == 0 { return add(parent: parent, key: key, time: time, slot: slot) }
      if keys[Int(node)] == key, parents[Int(node)] == parent, image == -2 || images[Int(node)] == image { return node }
      slot = (slot + 1) & mask
    }
  }

  /// A stack of frame keys, the outermost first.
  public func stack(_ keys: [UInt64], time: UInt64 = 0) -> StackID {
    var node: UInt32 = 0
    for key in keys { node = child(of: node, key: key, time: time) }
    return StackID(node)
  }

  /// The frame keys of a stack, the outermost first.
  public func keys(of stack: StackID) -> [UInt64] {
    var result: [UInt64] = []
    var node = stack
    while node.rawValue > 1 {
      result.append(keys[Int(node.rawValue)])
      node = parent(of: node)
    }
    return result.reversed()
  }

  @inline(__always)
  private static func hash(_ parent: UInt32, _ key: UInt64) -> Int {
    let h = (key ^ UInt64(parent) &<< 27) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: (h ^ h >> 29) >> 8)
  }

  private func image(of key: UInt64, time: UInt64) -> Int32 {
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
    if nodeCount == capacity { growNodes() }
    let node = nodeCount
    parents[node] = parent
    keys[node] = key
    images[node] = image(of: key, time: time)
    slots[slot] = UInt32(node)
    nodeCount += 1
    if nodeCount * 2 > mask { growSlots() }
    return UInt32(node)
  }

  private func growNodes() {
    func grown<Element>(_ old: UnsafeMutablePointer<Element>) -> UnsafeMutablePointer<Element> {
      let new = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
      new.moveInitialize(from: old, count: nodeCount)
      old.deallocate()
      return new
    }
    parents = grown(parents)
    images = grown(images)
    keys = grown(keys)
    capacity *= 2
  }

  private func growSlots() {
    slots.deallocate()
    mask = mask * 2 + 1
    slots = .allocate(capacity: mask + 1)
    slots.initialize(repeating: 0, count: mask + 1)
    for node in 2..<nodeCount {
      var slot = Self.hash(parents[node], keys[node]) & mask
      while slots[slot] != 0 { slot = (slot + 1) & mask }
      slots[slot] = UInt32(node)
    }
  }
}

extension FrameKey {
  /// LT_FRAME_ADDRESS_MASK, whose expression Swift does not import.
  private static let addressMask: UInt64 = (1 << 57) - 1
  private static let exactFlag: UInt64 = 1 << 62
  private static let asyncFlag: UInt64 = 1 << 63

  /// From the number in the trace.
  init(encoded key: UInt64) {
    let isAsync = key & Self.asyncFlag != 0
    self.init(
      address: RuntimeAddress(key & Self.addressMask), isExact: isAsync || key & Self.exactFlag != 0, isAsync: isAsync)
  }

  /// The number in a trace.
  public var encoded: UInt64 {
    address.rawValue & Self.addressMask | (isExact ? Self.exactFlag : 0) | (isAsync ? Self.asyncFlag : 0)
  }

  /// The address to look up: that of the call for a return address.
  public var lookupAddress: UInt64 { isExact || address.rawValue == 0 ? address.rawValue : address.rawValue - 1 }
}
