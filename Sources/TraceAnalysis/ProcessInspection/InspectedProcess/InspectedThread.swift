// One thread of an inspected process.

/// A thread as it stood: the registers that may lead to memory.
package struct InspectedThread: Hashable, Sendable {
  /// The kernel's number of it.
  package var threadID: Int32
  package var instructionPointer: UInt64
  package var stackPointer: UInt64
  /// Base of the thread's `%fs`: its thread control block; 0 before libc has set it.
  package var threadPointer: UInt64
  /// The general registers, in the kernel's order (`user_regs_struct`).
  package var registers: [UInt64]
  /// As the program named it; empty if that is not known.
  package var name = ""
  /// The number that its own PID namespace has for it; 0 if that is not known.
  package var ownNumber: UInt64 = 0
}

extension InspectedThread {
  /// Words of `user_regs_struct` of x86-64 (Linux, sys/user.h).
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
