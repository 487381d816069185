// The compiler's rules in an image's file that derive a caller's registers from the callee's registers.

import CElfutils
import Glibc

/// The call frame information in a file's `.eh_frame`, read by libdw. For one thread at a time.
package final class CallFrameInformation {
  /// The values of the registers that unwinding needs, by DWARF number; nil for unknown values.
  package struct Registers: Equatable {
    fileprivate(set) var values: [UInt64?]

    package init(values: [UInt64?]) {
      self.values = values
    }

    package init(_ processor: FrameRegisters) { values = Array(repeating: nil, count: processor.count) }

    package subscript(number: Int) -> UInt64? {
      get { values.indices.contains(number) ? values[number] : nil }
      set { if values.indices.contains(number) { values[number] = newValue } }
    }
  }

  /// A step from a frame to its caller.
  package enum Step: Equatable {
    case caller(Registers)
    /// The frame has no caller: the thread began in this function.
    case outermost
  }

  private let file: ElfFile
  private let handle: OpaquePointer

  /// The most operations in one expression. Expressions for the C library's signal frames and linkage tables have some
  /// ten operations.
  private static let operationLimit = 64

  /// `nil` if the file has no call frame information.
  package init?(_ file: ElfFile) {
    guard let handle = dwarf_getcfi_elf(file.handle) else { return nil }
    self.file = file
    self.handle = handle
  }

  deinit { dwarf_cfi_end(handle) }

  /// Returns the registers of a frame's caller; `nil` if the file has no rule, or if a rule needs an unknown word or
  /// register.
  ///
  /// - Parameters:
  ///   - address: the frame's code address, as a link address of the file.
  ///   - word: returns the 8 bytes at an address of the process.
  package func step(at address: UInt64, _ registers: Registers, _ processor: FrameRegisters, word: (UInt64) -> UInt64?)
    -> Step?
  {
    var found: OpaquePointer?
    guard dwarf_cfi_addrframe(handle, address, &found) == 0, let frame = found else { return nil }
    defer { free(UnsafeMutableRawPointer(frame)) }
    var operations: UnsafeMutablePointer<Dwarf_Op>?
    var count = 0
    guard dwarf_frame_cfa(frame, &operations, &count) == 0, let operations,
      let top = Self.value(
        UnsafeBufferPointer(start: operations, count: count), registers, frameAddress: nil, word: word)
    else { return nil }
    // A caller's frame must be at a higher address; otherwise the stack is damaged.
    if let before = registers[processor.stackPointer], top <= before { return nil }
    let returnColumn = dwarf_frame_info(frame, nil, nil, nil)
    guard returnColumn >= 0 else { return nil }
    var caller = Registers(processor)
    for number in 0..<processor.count {
      switch rule(frame, number) {
      case .undefined where number == Int(returnColumn): return .outermost
      case .undefined, .unreadable: break
      case .same: caller[number] = registers[number]
      case .computed(let operations): caller[number] = Self.value(operations, registers, frameAddress: top, word: word)
      }
    }
    caller[processor.stackPointer] = top
    guard let returnAddress = caller[Int(returnColumn)] else { return nil }
    caller[processor.instructionPointer] = returnAddress
    return returnAddress == 0 ? .outermost : .caller(caller)
  }

  private enum Rule {
    case undefined, same, unreadable
    case computed([Dwarf_Op])
  }

  private func rule(_ frame: OpaquePointer, _ number: Int) -> Rule {
    // libdw writes short expressions to `memory`. For longer expressions it sets `operations` to its own memory.
    withUnsafeTemporaryAllocation(of: Dwarf_Op.self, capacity: 3) { memory in
      guard let room = memory.baseAddress else { return .unreadable }
      var operations: UnsafeMutablePointer<Dwarf_Op>?
      var count = 0
      guard dwarf_frame_register(frame, Int32(number), room, &operations, &count) == 0 else { return .unreadable }
      guard let operations else { return .same }
      if count == 0 { return .undefined }
      return .computed(Array(UnsafeBufferPointer(start: operations, count: count)))
    }
  }

  /// Returns the value of an expression. If the expression describes a location, the value is the word there. `nil` if
  /// an operation, or a register or word that it needs, is unknown.
  private static func value(
    _ operations: some RandomAccessCollection<Dwarf_Op>, _ registers: Registers, frameAddress: UInt64?,
    word: (UInt64) -> UInt64?
  ) -> UInt64? {
    guard operations.count <= operationLimit else { return nil }
    var stack: [UInt64] = []
    // The expression of a frame's address gives a value. The expression of a register gives a location, unless it
    // contains DW_OP_stack_value.
    var isLocation = frameAddress != nil
    for operation in operations {
      let (code, number) = (Int(operation.atom), operation.number)
      switch code {
      case DW_OP_call_frame_cfa:
        guard let frameAddress else { return nil }
        stack.append(frameAddress)
      case DW_OP_breg0...DW_OP_breg31:
        guard let value = registers[code - DW_OP_breg0] else { return nil }
        stack.append(value &+ number)
      case DW_OP_bregx:
        guard let register = Int(exactly: number), let value = registers[register] else { return nil }
        stack.append(value &+ operation.number2)
      case DW_OP_lit0...DW_OP_lit31: stack.append(UInt64(code - DW_OP_lit0))
      case DW_OP_plus_uconst:
        guard let value = stack.popLast() else { return nil }
        stack.append(value &+ number)
      case DW_OP_deref:
        guard let address = stack.popLast(), let value = word(address) else { return nil }
        stack.append(value)
      case DW_OP_plus, DW_OP_and, DW_OP_shl, DW_OP_ge:
        guard let right = stack.popLast(), let left = stack.popLast() else { return nil }
        switch code {
        case DW_OP_plus: stack.append(left &+ right)
        case DW_OP_and: stack.append(left & right)
        case DW_OP_shl: stack.append(left << right)
        default: stack.append(Int64(bitPattern: left) >= Int64(bitPattern: right) ? 1 : 0)
        }
      case DW_OP_stack_value: isLocation = false
      default: return nil
      }
    }
    guard let result = stack.last else { return nil }
    return isLocation ? word(result) : result
  }
}

/// The DWARF numbers of a processor's registers.
package struct FrameRegisters {
  /// All registers that unwinding needs have numbers below this one.
  let count: Int
  package let stackPointer: Int
  package let instructionPointer: Int
  /// The DWARF numbers of the registers that a heap image has of each thread, in the order of `lt_snapshot_thread`.
  package let recorded: [Int]

  /// Source: System V ABI, AMD64 supplement, figure 3.36. Recorded: rax, rbx, rcx, rdx, rsi, rdi, rbp, r8 to r15.
  package static let x86_64 = FrameRegisters(
    count: 17, stackPointer: 7, instructionPointer: 16, recorded: [0, 3, 2, 1, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15])
}
