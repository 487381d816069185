// The compiler's rules in an image's file for finding a caller's registers from a function's.

import CElfutils
import Glibc

/// The call frame information of one file: its `.eh_frame`, as libdw reads it. Not to be shared between threads.
package final class CallFrameInformation {
  /// The registers that unwinding needs, by their DWARF numbers; none for unknown ones.
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
    /// The thread began here: nothing called the function.
    case outermost
  }

  private let file: ElfFile
  private let handle: OpaquePointer

  /// The most operations of one expression. Expressions of the C library's signal frames and linkage tables have some
  /// ten.
  private static let operationLimit = 64

  /// `nil` if the file has none.
  package init?(_ file: ElfFile) {
    guard let handle = dwarf_getcfi_elf(file.handle) else { return nil }
    self.file = file
    self.handle = handle
  }

  deinit { dwarf_cfi_end(handle) }

  /// The registers of the caller of a frame; `nil` if the file has no rule, or if the rule needs an unknown word or
  /// register.
  ///
  /// - Parameters:
  ///   - address: the frame's code address, in the file's own addresses.
  ///   - word: the 8 bytes at an address of the process.
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
    // A caller's frame lies above, or the stack is not sound.
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
    // libdw writes simple rules here, and gives the address of longer ones.
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

  /// The value that an expression describes: of a location the word there. `nil` if an operation or something that it
  /// needs is not known.
  private static func value(
    _ operations: some RandomAccessCollection<Dwarf_Op>, _ registers: Registers, frameAddress: UInt64?,
    word: (UInt64) -> UInt64?
  ) -> UInt64? {
    guard operations.count <= operationLimit else { return nil }
    var stack: [UInt64] = []
    // A frame's own address is a value. A register's rule is a location, unless it says otherwise.
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

/// The registers of a processor by their DWARF numbers.
package struct FrameRegisters {
  /// Those that unwinding needs to know have numbers below this.
  let count: Int
  package let stackPointer: Int
  package let instructionPointer: Int
  /// The DWARF number of each register of a heap image's thread, in their order; see `lt_snapshot_thread`.
  package let recorded: [Int]

  /// Source: System V ABI, AMD64 supplement, figure 3.36. Recorded: rax, rbx, rcx, rdx, rsi, rdi, rbp, r8 to r15.
  package static let x86_64 = FrameRegisters(
    count: 17, stackPointer: 7, instructionPointer: 16, recorded: [0, 3, 2, 1, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15])
}
