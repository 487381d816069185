// Unwinding by unwind tables, without regard to this machine's processor.

import Testing
import TraceReading

@testable import TraceSymbolication

@Suite struct TableUnwinderTests {
  /// Memory with a table for one function, its code, and a stack.
  private final class Memory {
    var bytes: [UInt64: UInt8] = [:]

    func put(_ address: UInt64, _ values: [UInt8]) {
      for (index, value) in values.enumerated() { bytes[address + UInt64(index)] = value }
    }

    func put<Number: FixedWidthInteger>(_ address: UInt64, _ value: Number) {
      put(address, withUnsafeBytes(of: value.littleEndian) { Array($0) })
    }

    func read(_ address: RuntimeAddress, into buffer: UnsafeMutableRawBufferPointer) -> Bool {
      for index in buffer.indices {
        guard let byte = bytes[address.rawValue &+ UInt64(index)] else { return false }
        buffer[index] = byte
      }
      return true
    }
  }

  private let code: Range<UInt64> = 0x10_0000..<0x20_0000
  private let header: UInt64 = 0x11_0000
  private let frames: UInt64 = 0x11_1000
  private let stack: UInt64 = 0x7000_0000

  /// Makes a table of functions: their ranges and instructions, in order of address. `initial`: the instructions that
  /// all of them begin with.
  private func table(
    _ functions: [(Range<UInt64>, [UInt8])], initial: [UInt8], returnRegister: UInt8, letters: String = "zR",
    in memory: Memory
  ) {
    func entry(_ address: UInt64, _ contents: [UInt8]) -> UInt64 {
      memory.put(address, UInt32(contents.count))
      memory.put(address + 4, contents)
      return address + 4 + UInt64(contents.count)
    }
    func word(_ value: UInt64) -> [UInt8] { withUnsafeBytes(of: UInt32(truncatingIfNeeded: value)) { Array($0) } }
    let augmentation = Array(letters.utf8) + [0]
    var next = entry(frames, [0, 0, 0, 0, 1] + augmentation + [1, 0x78, returnRegister, 1, 0x1B] + initial)
    memory.put(header, [1, 0x1B, 0x03, 0x3B])
    memory.put(header + 4, UInt32(truncatingIfNeeded: frames &- header - 4))
    memory.put(header + 8, UInt32(functions.count))
    for (index, function) in functions.enumerated() {
      let place = header + 12 + UInt64(index) * 8
      memory.put(place, UInt32(truncatingIfNeeded: function.0.lowerBound &- header))
      memory.put(place + 4, UInt32(truncatingIfNeeded: next &- header))
      let start = function.0.lowerBound &- (next + 8)
      let size = function.0.upperBound - function.0.lowerBound
      next = entry(next, word(next + 4 - frames) + word(start) + word(size) + [0] + function.1)
    }
  }

  private func unwinder(_ memory: Memory) -> TableUnwinder {
    TableUnwinder([StackUnwinder.Code(range: code, unwindTable: header)], read: memory.read)
  }

  private func registers(_ processor: Processor, at address: UInt64, stackPointer: UInt64) -> UnwindRegisters {
    var registers = UnwindRegisters(processor)
    (registers.programCounter, registers.stackPointer) = (address, stackPointer)
    return registers
  }

  /// Two functions of x86-64: an inner one that has pushed a register, and the thread's first function.
  private func memoryOfX86() -> Memory {
    let memory = Memory()
    // The CFA is rsp + 8, and the return address is at the CFA − 8.
    let initial: [UInt8] = [0x0C, 7, 8, 0x90, 1]
    // After one byte: the CFA is rsp + 16, and rbx is at the CFA − 16.
    let inner: [UInt8] = [0x41, 0x0E, 16, 0x83, 2]
    let outer: [UInt8] = [0x07, 16]
    table(
      [(0x10_0000..<0x10_0100, inner), (0x10_0200..<0x10_0300, outer)], initial: initial, returnRegister: 16, in: memory
    )
    memory.put(stack, UInt64(5))
    memory.put(stack + 8, UInt64(0x10_0250))
    return memory
  }

  @Test func callersAreFoundUntilTheReturnAddressIsUndefined() {
    let memory = memoryOfX86()
    let found = unwinder(memory).stack(registers(.x86_64, at: 0x10_0010, stackPointer: stack))
    #expect(found.addresses == [0x10_0010, 0x10_0250] && found.end == .complete)
    // At the function's first instruction, nothing has been pushed.
    let first = unwinder(memory).stack(registers(.x86_64, at: 0x10_0000, stackPointer: stack + 8))
    #expect(first.addresses == [0x10_0000, 0x10_0250] && first.end == .complete)
  }

  @Test func unknownMemoryAndCodeWithoutRulesEndAStack() {
    let memory = memoryOfX86()
    memory.put(stack + 8, UInt64(0x10_0180))
    var found = unwinder(memory).stack(registers(.x86_64, at: 0x10_0010, stackPointer: stack))
    #expect(found.addresses == [0x10_0010, 0x10_0180] && found.end == .noRules)
    found = unwinder(memory).stack(registers(.x86_64, at: 0x10_0010, stackPointer: stack + 0x100))
    #expect(found.addresses == [0x10_0010] && found.end == .unsound)
    found = unwinder(memory).stack(registers(.x86_64, at: 0x30_0000, stackPointer: stack))
    #expect(found.addresses == [0x30_0000] && found.end == .noRules)
  }

  @Test func everyCutTableEndsTheStackAndNothingElse() {
    let whole = memoryOfX86()
    for address in whole.bytes.keys.sorted() {
      let memory = Memory()
      memory.bytes = whole.bytes
      memory.bytes[address] = nil
      let found = unwinder(memory).stack(registers(.x86_64, at: 0x10_0010, stackPointer: stack))
      #expect(found.addresses.first == 0x10_0010)
      // Each value of the byte is answered, too.
      for value: UInt8 in [0, 1, 0x7F, 0x80, 0xFF] {
        memory.bytes[address] = value
        #expect(unwinder(memory).stack(registers(.x86_64, at: 0x10_0010, stackPointer: stack)).addresses.count >= 1)
      }
    }
  }

  @Test("Damaged tables cannot ask for endless work", arguments: [1, 5, 20, 40])
  func readsAreLimited(reads: Int) {
    var count = 0
    let memory = memoryOfX86()
    let code = StackUnwinder.Code(range: code, unwindTable: header)
    let limited = TableUnwinder([code], readsOfStack: reads) {
      count += 1
      return memory.read($0, into: $1)
    }
    let found = limited.stack(registers(.x86_64, at: 0x10_0010, stackPointer: stack))
    #expect(found.addresses.first == 0x10_0010 && found.end == .unsound)
    #expect(count == reads)
  }

  @Test func returnRegisterThatDoesNotExistIsNoStartOfAThread() {
    let memory = Memory()
    table(
      [(0x10_0000..<0x10_0100, [])], initial: [0x0C, 7, 8, 0x90, 1], returnRegister: 40, in: memory)
    let found = unwinder(memory).stack(registers(.x86_64, at: 0x10_0010, stackPointer: stack))
    #expect(found.addresses == [0x10_0010] && found.end == .unsound)
  }

  @Test func expressionsOfEntriesAreEvaluated() {
    let memory = Memory()
    // The CFA of a table of calls: rsp + 8, plus 8 if the address is late in its 16 bytes.
    let expression: [UInt8] = [0x77, 8, 0x80, 0, 0x3F, 0x1A, 0x3B, 0x2A, 0x33, 0x24, 0x22]
    let calls: [UInt8] = [0x0F, UInt8(expression.count)] + expression
    table(
      [(0x10_0000..<0x10_0100, calls), (0x10_0200..<0x10_0300, [0x07, 16])], initial: [0x0C, 7, 8, 0x90, 1],
      returnRegister: 16, in: memory)
    memory.put(stack, UInt64(0x10_0250))
    memory.put(stack + 8, UInt64(0x10_0260))
    #expect(
      unwinder(memory).stack(registers(.x86_64, at: 0x10_0021, stackPointer: stack)).addresses == [
        0x10_0021, 0x10_0250,
      ])
    #expect(
      unwinder(memory).stack(registers(.x86_64, at: 0x10_002C, stackPointer: stack)).addresses == [
        0x10_002C, 0x10_0260,
      ])
  }

  /// A function of arm64 with a frame record, and the thread's first function. The key of signatures has a letter.
  private func memoryOfArm64() -> Memory {
    let memory = Memory()
    // After 4 bytes: return addresses are signed. After 8: the CFA is sp + 32, with x29 and x30 at its start.
    let inner: [UInt8] = [0x44, 0x2D, 0x44, 0x0E, 32, 0x9D, 4, 0x9E, 3]
    table(
      [(0x10_0000..<0x10_0100, inner), (0x10_0400..<0x10_0500, [0x07, 30])], initial: [0x0C, 31, 0],
      returnRegister: 30, letters: "zRB", in: memory)
    return memory
  }

  @Test func signaturesOfArm64ReturnAddressesAreRemoved() {
    let memory = memoryOfArm64()
    memory.put(stack, stack + 0x100)
    memory.put(stack + 8, UInt64(0x005A_0000_0010_0450))
    let found = unwinder(memory).stack(registers(.arm64, at: 0x10_0010, stackPointer: stack))
    #expect(found.addresses == [0x10_0010, 0x10_0450] && found.end == .complete)
    // A function that calls nothing keeps its return address in a register.
    var leaf = registers(.arm64, at: 0x10_0000, stackPointer: stack)
    leaf[30] = 0x10_0450
    #expect(unwinder(memory).stack(leaf).addresses == [0x10_0000, 0x10_0450])
  }

  @Test func interruptedFrameOfArm64IsFoundByTheKernelsCode() {
    let memory = memoryOfArm64()
    // A handler has called a function. It returns to `mov x8, #139`, `svc #0` of the kernel.
    let kernelCode: UInt64 = 0x50_0000
    memory.put(kernelCode, UInt32(0xD280_1168))
    memory.put(kernelCode + 4, UInt32(0xD400_0001))
    memory.put(stack, UInt64(0))
    memory.put(stack + 8, kernelCode)
    // Another stack has the interrupted function, at its first instruction.
    let saved = stack + 32 + 312
    for number in 0...32 as ClosedRange<UInt64> { memory.put(saved + number * 8, UInt64(0)) }
    memory.put(saved + 30 * 8, UInt64(0x10_0450))
    memory.put(saved + 31 * 8, UInt64(0x1000))
    memory.put(saved + 32 * 8, UInt64(0x10_0000))
    let found = unwinder(memory).frames(registers(.arm64, at: 0x10_0010, stackPointer: stack))
    #expect(found.frames.map(\.key.address.rawValue) == [0x10_0010, kernelCode, 0x10_0000, 0x10_0450])
    #expect(found.frames.map(\.key.isExact) == [true, false, true, false] && found.end == .complete)
    #expect(found.frames.map(\.stackPointer) == [stack, stack + 32, 0x1000, 0x1000])
    // Other code without rules ends the stack.
    memory.put(kernelCode, UInt32(0xD280_1169))
    #expect(unwinder(memory).stack(registers(.arm64, at: 0x10_0010, stackPointer: stack)).end == .noRules)
  }

  @Test func arm64FunctionWithoutRulesHasAFrameRecord() {
    let memory = memoryOfArm64()
    // stp x29, x30, [sp, #-48]!; mov x29, sp; bl. The call is from a function between the two of the table.
    for (index, instruction): (Int, UInt32) in [0xD65F_03C0, 0xA9BD_7BFD, 0x9100_03FD, 0x9400_0000].enumerated() {
      memory.put(0x10_0200 + UInt64(index) * 4, instruction)
    }
    memory.put(stack, stack + 0x40)
    memory.put(stack + 8, UInt64(0x10_0210))
    memory.put(stack + 0x40, UInt64(0))
    memory.put(stack + 0x48, UInt64(0x10_0450))
    let found = unwinder(memory).stack(registers(.arm64, at: 0x10_0010, stackPointer: stack))
    #expect(found.addresses == [0x10_0010, 0x10_0210, 0x10_0450] && found.end == .complete)
    // No rules are guessed for the innermost function, which may not have made its record yet.
    let innermost = unwinder(memory).stack(registers(.arm64, at: 0x10_020C, stackPointer: stack))
    #expect(innermost.addresses == [0x10_020C] && innermost.end == .noRules)
  }
}
