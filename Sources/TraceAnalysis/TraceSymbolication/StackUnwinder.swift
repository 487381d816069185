// Unwinds stacks in a child process, with the unwind tables in memory.

import CSandboxedChild
import CUnwinder
import TraceReading

/// Unwinds the stacks of one process with libunwind. The memory may contain anything, so a child process does the work.
/// A crash or an endless loop then loses only one stack.
///
/// The child starts for the first stack. For one thread at a time.
package final class StackUnwinder {
  /// Code that has unwind information.
  package struct Code {
    package var range: Range<UInt64>
    /// The address of the code's `.eh_frame_hdr`.
    package var unwindTable: UInt64

    package init(range: Range<UInt64>, unwindTable: UInt64) {
      (self.range, self.unwindTable) = (range, unwindTable)
    }
  }

  /// The general registers and the program counter by their DWARF numbers; nil for unknown values. Sources: System V ABI,
  /// AMD64; DWARF for the Arm 64-bit Architecture.
  package struct Registers {
    package static func stackPointer(_ processor: Processor) -> Int { processor == .arm64 ? 31 : 7 }
    package static func programCounter(_ processor: Processor) -> Int { processor == .arm64 ? 32 : 16 }

    fileprivate var question = lt_unwind_registers()

    package init() {}

    package subscript(number: Int) -> UInt64? {
      get {
        withUnsafeBytes(of: question.values) { values in
          question.known >> UInt64(number) & 1 == 0 ? nil : values.assumingMemoryBound(to: UInt64.self)[number]
        }
      }
      set {
        let bit = UInt64(1) << UInt64(number)
        question.known = newValue == nil ? question.known & ~bit : question.known | bit
        withUnsafeMutableBytes(of: &question.values) { values in
          values.assumingMemoryBound(to: UInt64.self)[number] = newValue ?? 0
        }
      }
    }
  }

  private let codes: UnsafeMutableBufferPointer<lt_unwind_code>
  private let pieces: UnsafeMutableBufferPointer<lt_unwinder_memory>
  private let input: UnsafeMutablePointer<lt_unwinder_input>
  private let child: SandboxedChild

  /// Maximum total time for stacks that crash the child or block it.
  private static let lostTimeLimit = Duration.seconds(240)

  /// - Parameters:
  ///   - codes: the loaded images of the process. If two overlap, the image at the lower address counts.
  ///   - memory: its bytes must live as long as this object.
  ///   - processor: the processor of the process. Stacks are unwound only on the same processor.
  package init(_ codes: [Code], _ memory: UnwoundMemory, processor: Processor) {
    var end: UInt64 = 0
    let disjoint = codes.sorted { $0.range.lowerBound < $1.range.lowerBound }.compactMap { code -> lt_unwind_code? in
      guard code.range.lowerBound >= end else { return nil }
      end = code.range.upperBound
      return lt_unwind_code(start: code.range.lowerBound, end: end, table: code.unwindTable)
    }
    self.codes = .allocate(capacity: disjoint.count)
    _ = self.codes.initialize(from: disjoint)
    var process: Int32 = 0
    var kept: [lt_unwinder_memory] = []
    switch memory {
    case .process(let number): process = number
    case .kept(let pieces):
      kept = pieces.map {
        lt_unwinder_memory(
          start: $0.range.lowerBound, end: $0.range.upperBound, bytes: $0.bytes.assumingMemoryBound(to: UInt8.self))
      }
    }
    pieces = .allocate(capacity: kept.count)
    _ = pieces.initialize(from: kept)
    var input = lt_unwinder_input()
    input.machine = processor.rawValue
    input.process = process
    (input.memory, input.memoryCount) = (UnsafePointer(pieces.baseAddress), kept.count)
    (input.images, input.imageCount) = (UnsafePointer(self.codes.baseAddress), disjoint.count)
    self.input = .allocate(capacity: 1)
    self.input.initialize(to: input)
    child = SandboxedChild(lostTimeLimit: Self.lostTimeLimit) { [input = self.input] in lt_unwinder_start($0, input) }
  }

  deinit {
    input.deallocate()
    pieces.deallocate()
    codes.deallocate()
  }

  /// Returns the frames of a stopped thread, innermost first, and the reason why the stack ends. If the child failed,
  /// returns no frames and `unknown`.
  package func stack(_ registers: Registers) -> (frames: [ThreadStack.Frame], end: ThreadStack.End) {
    let answer = withUnsafeBytes(of: registers.question) { question in
      try? child.ask(question) { $0.flatMap(Self.answer) }
    }
    return answer ?? ([], .unknown)
  }

  private static func answer(_ bytes: UnsafeRawBufferPointer) -> ([ThreadStack.Frame], ThreadStack.End)? {
    let (headSize, frameSize) = (MemoryLayout<lt_unwinder_answer>.size, MemoryLayout<lt_unwound_frame>.stride)
    guard bytes.count >= headSize else { return nil }
    let head = bytes.loadUnaligned(as: lt_unwinder_answer.self)
    guard head.count <= UInt32(LT_UNWINDER_MAX_FRAMES),
      bytes.count == headSize + Int(head.count) * frameSize
    else { return nil }
    let frames = (0..<Int(head.count)).map { index in
      let frame = bytes.loadUnaligned(fromByteOffset: headSize + index * frameSize, as: lt_unwound_frame.self)
      return ThreadStack.Frame(
        key: FrameKey(address: RuntimeAddress(frame.address), isExact: frame.isExact != 0, isAsync: false),
        stackPointer: frame.stackPointer)
    }
    let end: ThreadStack.End =
      switch lt_unwind_end(head.end) {
      case LT_UNWIND_COMPLETE: .complete
      case LT_UNWIND_CUT: .cut
      case LT_UNWIND_NO_RULES: .noRules
      default: .unsound
      }
    return (frames, end)
  }
}
