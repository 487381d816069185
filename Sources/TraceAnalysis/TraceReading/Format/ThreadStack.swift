// The state of a thread in an inspected process.

import CTraceFormat

/// The active functions of a thread in a heap image, unwound when the image was made.
package struct ThreadStack: Hashable, Sendable {
  package enum Activity: Hashable, Sendable {
    case computing
    /// In the system call with this number.
    case inCall(UInt64)
    case unknown
  }

  package enum End: Hashable, Sendable {
    /// The last frame is the thread's outermost one.
    case complete
    /// There are more frames than the limit allows.
    case cut
    /// The last frame's code has no unwinding rules.
    case noRules
    /// The next frame is not on a stack, or its memory is missing.
    case unsound
    /// The stack was not unwound.
    case unknown

    package init(rawValue: UInt64) {
      self =
        switch rawValue {
        case UInt64(LT_STACK_COMPLETE): .complete
        case UInt64(LT_STACK_CUT): .cut
        case UInt64(LT_STACK_NO_RULES): .noRules
        case UInt64(LT_STACK_UNSOUND): .unsound
        default: .unknown
        }
    }

    var rawValue: UInt64 {
      switch self {
      case .complete: UInt64(LT_STACK_COMPLETE)
      case .cut: UInt64(LT_STACK_CUT)
      case .noRules: UInt64(LT_STACK_NO_RULES)
      case .unsound: UInt64(LT_STACK_UNSOUND)
      case .unknown: UInt64(LT_STACK_UNKNOWN)
      }
    }
  }

  package struct Frame: Hashable, Sendable {
    package var key: FrameKey
    /// The beginning of the frame's memory. It ends at the beginning of the caller's frame.
    package var stackPointer: UInt64

    package init(key: FrameKey, stackPointer: UInt64) {
      self.key = key
      self.stackPointer = stackPointer
    }
  }

  /// The kernel's number of the thread in the inspector's PID namespace.
  package var osThread: UInt64
  /// The kernel's number of the thread in the process's own PID namespace; 0 if unknown.
  package var ownNumber: UInt64
  /// The name that the program gave the thread; empty if unknown.
  package var name: String
  package var activity: Activity
  /// The innermost first.
  package var frames: [Frame]
  package var end: End

  package init(
    osThread: UInt64, ownNumber: UInt64 = 0, name: String = "", activity: Activity = .unknown, frames: [Frame] = [],
    end: End = .unknown
  ) {
    self.osThread = osThread
    self.ownNumber = ownNumber
    self.name = name
    self.activity = activity
    self.frames = frames
    self.end = end
  }

  /// Returns the index of the frame whose memory contains an address on the thread's stack; nil if there is none.
  /// O(frames)
  package func frame(holding address: UInt64) -> Int? {
    var found: Int?
    for (index, frame) in frames.enumerated() where frame.stackPointer &- Self.redZone(of: index) <= address {
      // A signal handler's own stack may be at any address, so frames may not be in order of address.
      if found.map({ frames[$0].stackPointer <= frame.stackPointer }) ?? true { found = index }
    }
    return found
  }

  /// Returns the bytes below a frame's stack pointer that also belong to the frame. The ABI gives 128 bytes to the
  /// innermost frame.
  private static func redZone(of index: Int) -> UInt64 { index == 0 ? 128 : 0 }
}

extension ThreadStack {
  /// The approximate bytes that the reader needs to keep the stack.
  var cost: UInt64 { 160 + 24 * UInt64(frames.count) + UInt64(name.utf8.count) }

  init?(decoding payload: ByteCursor) {
    var p = payload
    guard let osThread = p.varint(), let ownNumber = p.varint(), let name = p.string(), let call = p.varint(),
      let end = p.varint(), let count = p.varint(), count <= UInt64(p.remaining / Self.minFrameBytes)
    else { return nil }
    self.init(osThread: osThread, ownNumber: ownNumber, name: name, end: End(rawValue: end))
    activity =
      switch call {
      case UInt64(LT_ACTIVITY_UNKNOWN): .unknown
      case UInt64(LT_ACTIVITY_COMPUTING): .computing
      default: .inCall(call - UInt64(LT_ACTIVITY_FIRST_CALL))
      }
    frames.reserveCapacity(Int(count))
    var stackPointer: UInt64 = 0
    for _ in 0..<count {
      guard let key = p.varint(), let difference = p.zigzag() else { return nil }
      stackPointer &+= UInt64(bitPattern: difference)
      frames.append(Frame(key: FrameKey(encoded: key), stackPointer: stackPointer))
    }
  }

  /// A frame has two varints, of at least one byte each.
  private static let minFrameBytes = 2

  func encode(to fields: inout ByteBuilder) {
    fields.varint(osThread)
    fields.varint(ownNumber)
    fields.string(name)
    switch activity {
    case .unknown: fields.varint(UInt64(LT_ACTIVITY_UNKNOWN))
    case .computing: fields.varint(UInt64(LT_ACTIVITY_COMPUTING))
    case .inCall(let number): fields.varint(number &+ UInt64(LT_ACTIVITY_FIRST_CALL))
    }
    fields.varint(end.rawValue)
    fields.varint(UInt64(frames.count))
    var stackPointer: UInt64 = 0
    for frame in frames {
      fields.varint(frame.key.encoded)
      fields.zigzag(Int64(bitPattern: frame.stackPointer &- stackPointer))
      stackPointer = frame.stackPointer
    }
  }
}

extension TraceDefinitions {
  /// Returns the name that the program gave to this thread; empty if it is the main thread's name, because new threads
  /// inherit that name.
  package func ownName(of stack: ThreadStack, mainThread: UInt64) -> String {
    stack.osThread != mainThread && stack.name == threadStacks[mainThread]?.name ? "" : stack.name
  }

  /// Returns the image that covered an address in an inspection. O(images)
  package func image(at address: UInt64) -> LoadedImage? {
    images.first { $0.image.range.contains(RuntimeAddress(address)) }?.image
  }
}
