// One thread of an inspected process.

import TraceReading

/// A stopped thread, with the registers that may refer to memory.
package struct InspectedThread: Hashable, Sendable {
  /// Whether the thread computes or is in a system call.
  enum Activity: Hashable, Sendable {
    case unknown, computing
    /// The thread is in the system call with this number. It waits there if only the stop has interrupted the call.
    case inCall(UInt64, waits: Bool)
  }

  /// The thread's number, in this process's PID namespace.
  var threadID: Int32
  package var instructionPointer: UInt64
  package var stackPointer: UInt64
  /// The address of the thread control block: base of `%fs`, or `tpidr_el0`. 0 before libc has set it.
  package var threadPointer: UInt64
  /// The general registers in the kernel's order, which the processor's `RegisterLayout` describes. Empty if they are
  /// not known.
  package var registers: [UInt64]
  var processor: Processor
  var activity = Activity.unknown
  /// The name that the program gave the thread; empty if it is not known.
  package var name = ""
  /// The thread's number in its own PID namespace; 0 if that is the same namespace, or if the number is not known.
  package var ownNumber: UInt64 = 0
}

extension InspectedThread {
  /// - Parameters:
  ///   - registers: All words of the kernel's `user_regs_struct` for the processor.
  ///   - threadPointer: Nil if the registers have it.
  package init(
    threadID: Int32, registers: [UInt64], processor: Processor = .x86_64, threadPointer: UInt64? = nil
  ) {
    let layout = RegisterLayout(processor)
    precondition(registers.count == layout.count)
    self.init(
      threadID: threadID, instructionPointer: registers[layout.programCounter],
      stackPointer: registers[layout.stackPointer],
      threadPointer: threadPointer ?? layout.threadPointer.map { registers[$0] } ?? 0, registers: registers,
      processor: processor)
    guard let call = layout.call.map({ Int64(bitPattern: registers[$0]) }) else { return }
    activity =
      call < 0
      ? .computing
      : .inCall(UInt64(call), waits: Self.interruptions.contains(Int64(bitPattern: registers[layout.result])))
  }

  /// The registers by their DWARF numbers, with the program counter after them; nil if they are not known.
  var dwarfRegisters: [UInt64]? {
    let layout = RegisterLayout(processor)
    return registers.count == layout.count ? layout.dwarf.map { registers[$0] } : nil
  }

  /// Results of a system call that the stop interrupted: EINTR, and the kernel's numbers for calls that it will restart
  /// (Linux, include/linux/errno.h).
  static let interruptions: Set<Int64> = [-4, -512, -513, -514, -516]
}

/// The places of registers in the kernel's `user_regs_struct` of a processor (Linux, sys/user.h).
struct RegisterLayout {
  /// The number of words.
  let count: Int
  let programCounter: Int
  let stackPointer: Int
  /// Nil if the kernel keeps the thread pointer elsewhere.
  let threadPointer: Int?
  /// The number of the current system call; nil if the kernel keeps it elsewhere.
  let call: Int?
  /// The result of a system call.
  let result: Int
  /// The registers that DWARF numbers from 0, then the program counter.
  let dwarf: [Int]
  /// The registers that a trace records, in the trace's order.
  let recorded: [Int]

  init(_ processor: Processor) {
    self =
      switch processor {
      case .x86_64: Self.x86_64
      case .arm64: Self.arm64
      }
  }

  private init(
    count: Int, programCounter: Int, stackPointer: Int, threadPointer: Int?, call: Int?, result: Int, dwarf: [Int],
    recorded: [Int]
  ) {
    (self.count, self.programCounter, self.stackPointer) = (count, programCounter, stackPointer)
    (self.threadPointer, self.call, self.result) = (threadPointer, call, result)
    (self.dwarf, self.recorded) = (dwarf, recorded)
  }

  /// DWARF's order: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15. The trace's order: rax, rbx, rcx, rdx, rsi, rdi,
  /// rbp, r8 to r15.
  private static let x86_64 = Self(
    count: 27, programCounter: 16, stackPointer: 19, threadPointer: 21, call: 15, result: 10,
    dwarf: [10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16],
    recorded: [10, 5, 11, 12, 13, 14, 4, 9, 8, 7, 6, 3, 2, 1, 0])
  /// x0 to x30, sp, pc, pstate.
  private static let arm64 = Self(
    count: 34, programCounter: 32, stackPointer: 31, threadPointer: nil, call: nil, result: 0,
    dwarf: Array(0...32), recorded: Array(0...30))
}
