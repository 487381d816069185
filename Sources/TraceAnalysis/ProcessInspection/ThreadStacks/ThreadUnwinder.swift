// The stacks of an inspected process's threads.

import CSandboxedChild
import CUnwinder
import TraceReading
import TraceSymbolication

/// Unwinds threads with libunwind. Uses only the unwind tables in the images' memory, so no file is needed. The memory
/// may contain anything, so a child process does the work: a crash or an endless loop then loses only one stack.
///
/// Not to be shared between threads.
final class ThreadUnwinder {
  private let images: UnsafeMutableBufferPointer<lt_unwinder_image>
  private let pieces: UnsafeMutableBufferPointer<lt_unwinder_memory>
  private let input: UnsafeMutablePointer<lt_unwinder_input>
  private let child: SandboxedChild

  /// Limit of the total time for stacks that crash the child or make it hang.
  private static let lostTimeLimit = Duration.seconds(240)

  /// - Parameter memory: Is kept alive, with all its bytes, as long as this object.
  init(_ memory: any ProcessMemory, images: [MappedImage]) {
    self.memory = memory
    var end: UInt64 = 0
    let unwindable = images.compactMap { image -> lt_unwinder_image? in
      let range = image.image.range
      guard let table = image.unwindTable, range.lowerBound.rawValue >= end else { return nil }
      end = range.upperBound.rawValue
      return lt_unwinder_image(start: range.lowerBound.rawValue, end: end, table: table)
    }
    self.images = .allocate(capacity: unwindable.count)
    _ = self.images.initialize(from: unwindable)
    var process: Int32 = 0
    var kept: [lt_unwinder_memory] = []
    switch memory.unwoundMemory {
    case .process(let number): process = number
    case .kept(let pieces):
      kept = pieces.map {
        lt_unwinder_memory(
          start: $0.range.lowerBound, end: $0.range.upperBound, bytes: $0.bytes.assumingMemoryBound(to: UInt8.self))
      }
    }
    pieces = .allocate(capacity: kept.count)
    _ = pieces.initialize(from: kept)
    input = .allocate(capacity: 1)
    input.initialize(
      to: lt_unwinder_input(
        process: process, memory: UnsafePointer(pieces.baseAddress), memoryCount: kept.count,
        images: UnsafePointer(self.images.baseAddress), imageCount: unwindable.count))
    child = SandboxedChild(lostTimeLimit: Self.lostTimeLimit) { [input] in lt_unwinder_start($0, input) }
  }

  private let memory: any ProcessMemory

  deinit {
    input.deallocate()
    pieces.deallocate()
    images.deallocate()
  }

  /// Returns the stack of a thread; without frames if they are not known.
  func stack(of thread: InspectedThread) -> ThreadStack {
    var stack = ThreadStack(osThread: UInt64(UInt32(bitPattern: thread.threadID)))
    (stack.ownNumber, stack.name, stack.activity) = (thread.ownNumber, thread.name, thread.activity)
    guard let registers = thread.unwindRegisters else { return stack }
    let answer = registers.withUnsafeBytes { question in
      try? child.ask(question) { $0.flatMap(Self.answer) }
    }
    (stack.frames, stack.end) = answer ?? ([], .unknown)
    return stack
  }

  private static func answer(_ bytes: UnsafeRawBufferPointer) -> ([ThreadStack.Frame], ThreadStack.End)? {
    let (headSize, frameSize) = (MemoryLayout<lt_unwinder_answer>.size, MemoryLayout<lt_unwinder_frame>.stride)
    guard bytes.count >= headSize else { return nil }
    let head = bytes.loadUnaligned(as: lt_unwinder_answer.self)
    guard head.count <= UInt32(LT_UNWINDER_MOST_FRAMES),
      bytes.count == headSize + Int(head.count) * frameSize
    else { return nil }
    let frames = (0..<Int(head.count)).map { index in
      let frame = bytes.loadUnaligned(fromByteOffset: headSize + index * frameSize, as: lt_unwinder_frame.self)
      return ThreadStack.Frame(
        key: FrameKey(address: RuntimeAddress(frame.address), isExact: frame.isExact != 0, isAsync: false),
        stackPointer: frame.stackPointer)
    }
    let end: ThreadStack.End =
      switch lt_unwinder_end(head.end) {
      case LT_UNWINDER_COMPLETE: .complete
      case LT_UNWINDER_CUT: .cut
      case LT_UNWINDER_NO_RULES: .noRules
      default: .unsound
      }
    return (frames, end)
  }
}

extension InspectedThread {
  /// Places in `user_regs_struct` of the registers that DWARF numbers from 0: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp,
  /// r8 to r15. The last place is for DWARF's return address, which is the thread's current address here.
  private static let dwarfPlaces = [10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16]
  private static let callPlace = 15

  /// The registers in the order of `lt_unwinder_question`; nil if they are not known.
  fileprivate var unwindRegisters: [UInt64]? {
    registers.count == Self.registerCount ? Self.dwarfPlaces.map { registers[$0] } : nil
  }

  fileprivate var activity: ThreadStack.Activity {
    guard registers.count == Self.registerCount else { return .unknown }
    let call = Int64(bitPattern: registers[Self.callPlace])
    return call >= 0 ? .inCall(UInt64(call)) : .computing
  }
}
