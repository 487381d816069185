// The stacks of an inspected process's threads.

import TraceReading
import TraceSymbolication

/// Unwinds threads with the unwind tables of the loaded images in memory, so it needs no file.
///
/// For one thread at a time.
final class ThreadUnwinder {
  private let unwinder: StackUnwinder
  private let memory: any ProcessMemory

  /// - Parameter memory: This object keeps the memory and its bytes alive.
  init(_ memory: any ProcessMemory, images: [MappedImage]) {
    self.memory = memory
    let codes = images.compactMap { image in
      image.unwindTable.map {
        let range = image.image.range
        return StackUnwinder.Code(
          range: range.lowerBound.rawValue..<range.upperBound.rawValue, unwindTable: $0)
      }
    }
    unwinder = StackUnwinder(codes, memory.unwoundMemory)
  }

  /// Returns the stack of a thread. It has no frames if they are not known.
  func stack(of thread: InspectedThread) -> ThreadStack {
    var stack = ThreadStack(osThread: UInt64(UInt32(bitPattern: thread.threadID)))
    (stack.ownNumber, stack.name, stack.activity) = (thread.ownNumber, thread.name, thread.activity)
    if let registers = thread.unwindRegisters { (stack.frames, stack.end) = unwinder.stack(registers) }
    return stack
  }
}

extension InspectedThread {
  /// Indices in `user_regs_struct` of the registers that DWARF numbers from 0: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp,
  /// r8 to r15. The last index is for DWARF's return address, which is the thread's current address here.
  private static let dwarfPlaces = [10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16]
  private static let callPlace = 15

  /// All registers; nil if they are not known.
  fileprivate var unwindRegisters: StackUnwinder.Registers? {
    guard registers.count == Self.registerCount else { return nil }
    var found = StackUnwinder.Registers()
    for (number, place) in Self.dwarfPlaces.enumerated() { found[number] = registers[place] }
    return found
  }

  fileprivate var activity: ThreadStack.Activity {
    guard registers.count == Self.registerCount else { return .unknown }
    let call = Int64(bitPattern: registers[Self.callPlace])
    return call >= 0 ? .inCall(UInt64(call)) : .computing
  }
}
