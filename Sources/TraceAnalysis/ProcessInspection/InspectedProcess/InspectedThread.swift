// One thread of an inspected process.

/// A stopped thread, with the registers that may refer to memory.
package struct InspectedThread: Hashable, Sendable {
  /// The thread's number, in this process's PID namespace.
  var threadID: Int32
  package var instructionPointer: UInt64
  package var stackPointer: UInt64
  /// Base of the thread's `%fs`: its thread control block; 0 before libc has set it.
  package var threadPointer: UInt64
  /// The general registers, in the kernel's order (`user_regs_struct`).
  package var registers: [UInt64]
  /// The name that the program gave the thread; empty if it is not known.
  package var name = ""
  /// The thread's number in its own PID namespace; 0 if that is the same namespace, or if the number is not known.
  package var ownNumber: UInt64 = 0
}

extension InspectedThread {
  /// The number of words in `user_regs_struct` of x86-64 (Linux, sys/user.h).
  static let registerCount = 27
  private static let (ripIndex, rspIndex, fsBaseIndex) = (16, 19, 21)

  /// - Parameter registers: All words of `user_regs_struct`.
  package init(threadID: Int32, registers: [UInt64]) {
    precondition(registers.count == Self.registerCount)
    self.init(
      threadID: threadID, instructionPointer: registers[Self.ripIndex], stackPointer: registers[Self.rspIndex],
      threadPointer: registers[Self.fsBaseIndex], registers: registers)
  }
}
