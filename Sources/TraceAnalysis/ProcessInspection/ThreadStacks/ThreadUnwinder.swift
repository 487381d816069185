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
    unwinder = StackUnwinder(codes, memory.unwoundMemory, processor: memory.processor)
  }

  /// Returns the stack of a thread. It has no frames if they are not known.
  func stack(of thread: InspectedThread) -> ThreadStack {
    var stack = ThreadStack(osThread: UInt64(UInt32(bitPattern: thread.threadID)))
    (stack.ownNumber, stack.name, stack.activity) = (thread.ownNumber, thread.name, thread.stackActivity)
    if let registers = thread.unwindRegisters { (stack.frames, stack.end) = unwinder.stack(registers) }
    return stack
  }
}

extension InspectedThread {
  /// All registers; nil if they are not known.
  fileprivate var unwindRegisters: StackUnwinder.Registers? {
    dwarfRegisters.map { values in
      var found = StackUnwinder.Registers()
      for (number, value) in values.enumerated() { found[number] = value }
      return found
    }
  }

  fileprivate var stackActivity: ThreadStack.Activity {
    switch activity {
    case .unknown: .unknown
    case .computing: .computing
    case .inCall(let call, _): .inCall(call)
    }
  }
}
