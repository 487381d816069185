// The stacks of an inspected process's threads.

import TraceReading
import TraceSymbolication

/// Unwinds threads with the unwind tables of the loaded images in memory, so it needs no file.
///
/// libunwind unwinds stacks of this machine's processor. `TableUnwinder` unwinds stacks of the other processor. For one
/// thread at a time.
final class ThreadUnwinder {
  private enum Method {
    case libunwind(StackUnwinder)
    case tables(TableUnwinder)
  }

  private let method: Method
  private let memory: any ProcessMemory

  /// - Parameters:
  ///   - memory: This object keeps the memory and its bytes alive.
  ///   - usesTables: whether `TableUnwinder` unwinds the stacks. It can unwind stacks of either processor.
  init(_ memory: any ProcessMemory, images: [MappedImage], usesTables: Bool? = nil) {
    self.memory = memory
    let codes = images.compactMap { image in
      image.unwindTable.map {
        let range = image.image.range
        return StackUnwinder.Code(
          range: range.lowerBound.rawValue..<range.upperBound.rawValue, unwindTable: $0)
      }
    }
    method =
      usesTables ?? (memory.processor != .own)
      ? .tables(TableUnwinder(codes) { memory.read($0, into: $1) == $1.count })
      : .libunwind(StackUnwinder(codes, memory.unwoundMemory, processor: memory.processor))
  }

  /// Returns the stack of a thread. It has no frames if they are not known.
  func stack(of thread: InspectedThread) -> ThreadStack {
    var stack = ThreadStack(osThread: UInt64(UInt32(bitPattern: thread.threadID)))
    (stack.ownNumber, stack.name, stack.activity) = (thread.ownNumber, thread.name, thread.stackActivity)
    // Nil if the registers are not known.
    guard let values = thread.dwarfRegisters else { return stack }
    switch method {
    case .libunwind(let unwinder):
      var registers = StackUnwinder.Registers()
      for (number, value) in values.enumerated() { registers[number] = value }
      (stack.frames, stack.end) = unwinder.stack(registers)
    case .tables(let unwinder):
      var registers = UnwindRegisters(thread.processor)
      for (number, value) in values.enumerated() { registers[UInt64(number)] = value }
      (stack.frames, stack.end) = unwinder.frames(registers)
    }
    return stack
  }
}

extension InspectedThread {

  fileprivate var stackActivity: ThreadStack.Activity {
    switch activity {
    case .unknown: .unknown
    case .computing: .computing
    case .inCall(let call, _): .inCall(call)
    }
  }
}
