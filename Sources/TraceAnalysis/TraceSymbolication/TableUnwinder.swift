// Unwinds stacks of either processor, with the unwind tables in memory.

import TraceReading

/// A frame's registers by their DWARF numbers. Source: System V ABI, AMD64 supplement, figure 3.36, and DWARF for the
/// Arm 64-bit Architecture, 4.1.
package struct UnwindRegisters {
  package let processor: Processor
  private var values: [UInt64?]

  /// All registers are unknown.
  package init(_ processor: Processor) {
    self.processor = processor
    values = Array(repeating: nil, count: UnwindRow.registerLimit)
  }

  /// Nil for registers whose value is unknown.
  package subscript(number: UInt64) -> UInt64? {
    get { number < UInt64(values.count) ? values[Int(number)] : nil }
    set { if number < UInt64(values.count) { values[Int(number)] = newValue } }
  }

  package var stackPointer: UInt64? {
    get { self[stackPointerNumber] }
    set { self[stackPointerNumber] = newValue }
  }

  /// The address of the executed instruction, or the address where the callee returns to.
  package var programCounter: UInt64? {
    get { self[programCounterNumber] }
    set { self[programCounterNumber] = newValue }
  }

  var stackPointerNumber: UInt64 { processor == .arm64 ? 31 : 7 }
  private var programCounterNumber: UInt64 { processor == .arm64 ? 32 : 16 }
}

/// Limits the reads of an unwinder. Damaged unwind tables may describe endless work. A sound stack of 4,096 frames takes
/// fewer than a million reads.
private final class UnwindingWork {
  private let readsOfStack: Int
  private var spareOfStack = 0
  private var spare = 1 << 28
  private(set) var isUsedUp = false

  init(readsOfStack: Int) { self.readsOfStack = readsOfStack }

  func beginStack() { (spareOfStack, isUsedUp) = (readsOfStack, spare <= 0) }

  /// Returns whether one more read is allowed.
  func begin() -> Bool {
    spareOfStack -= 1
    spare -= 1
    if spareOfStack < 0 || spare < 0 { isUsedUp = true }
    return !isUsedUp
  }
}

/// Unwinds stacks of one process by the unwind tables of its loaded images, whatever the processor of this machine is.
/// It validates everything that it reads, and every stack has a limit. So it needs no child process. For one thread at
/// a time.
package final class TableUnwinder {
  private let codes: [StackUnwinder.Code]
  private let read: UnwindCursor.Read
  private let work: UnwindingWork
  /// The rules of frames by address, since many threads wait in the same functions.
  private var known: [UInt64: Rules] = [:]

  private static let frameLimit = 4096
  private static let knownLimit = 4096

  /// - Parameters:
  ///   - codes: the loaded images of the process. If two overlap, the image at the lower address counts.
  ///   - readsOfStack: the most calls of `read` for one stack.
  ///   - read: copies bytes of the process until the buffer is full. Returns `false` if any byte is unknown.
  package init(
    _ codes: [StackUnwinder.Code], readsOfStack: Int = 1 << 22,
    read: @escaping (RuntimeAddress, UnsafeMutableRawBufferPointer) -> Bool
  ) {
    var end: UInt64 = 0
    self.codes = codes.sorted { $0.range.lowerBound < $1.range.lowerBound }.filter { code in
      guard code.range.lowerBound >= end else { return false }
      end = code.range.upperBound
      return true
    }
    let work = UnwindingWork(readsOfStack: readsOfStack)
    self.work = work
    self.read = { work.begin() && read($0, $1) }
  }

  /// Returns the code addresses of a stopped thread's functions, innermost first, and the reason why the stack ends.
  /// The first address is the executing address, and the others are return addresses. O(frames · log entries).
  package func stack(_ registers: UnwindRegisters) -> (addresses: [UInt64], end: ThreadStack.End) {
    let stack = frames(registers)
    return (stack.frames.map(\.key.address.rawValue), stack.end)
  }

  /// Returns the frames of a stopped thread, innermost first, and the reason why the stack ends.
  /// O(frames · log entries).
  package func frames(_ registers: UnwindRegisters) -> (frames: [ThreadStack.Frame], end: ThreadStack.End) {
    work.beginStack()
    var registers = registers
    var frames: [ThreadStack.Frame] = []
    // Whether the program counter is the executing address: in the innermost frame, and where a signal interrupted.
    var isExact = true
    var lowestStackPointer: UInt64 = 0
    while frames.count < Self.frameLimit {
      guard let address = registers.programCounter else { return (frames, .unsound) }
      guard let stackPointer = registers.stackPointer, isExact || stackPointer >= lowestStackPointer else {
        return (frames, .unsound)
      }
      // Only the function that executes may have no memory on the stack. The handler of a signal may be on another one.
      lowestStackPointer = isExact ? stackPointer : stackPointer &+ 1
      frames.append(
        ThreadStack.Frame(
          key: FrameKey(address: RuntimeAddress(address), isExact: isExact, isAsync: false), stackPointer: stackPointer)
      )
      do {
        let step = try step(&registers, isExact: isExact)
        // Refused reads look like unknown registers.
        if work.isUsedUp { return (frames, .unsound) }
        switch step {
        case .caller: isExact = false
        case .interrupted: isExact = true
        case .none: return (frames, .complete)
        case .noRules: return (frames, .noRules)
        }
      } catch {
        return (frames, .unsound)
      }
    }
    return (frames, .cut)
  }

  private enum Step {
    case caller
    /// The next frame was interrupted by a signal.
    case interrupted
    /// The thread began in this frame.
    case none
    case noRules
  }

  /// Replaces the registers by the registers of the frame's caller.
  private func step(_ registers: inout UnwindRegisters, isExact: Bool) throws(UnwindFailure) -> Step {
    guard let counter = registers.programCounter else { throw UnwindFailure() }
    // A call may be the last instruction of its function.
    let address = isExact ? counter : counter &- 1
    guard let code = code(at: address),
      let rules = try rules(at: address, in: code, registers.processor, isExact: isExact)
    else { return isExact || !leaveHandler(&registers, at: counter) ? .noRules : .interrupted }
    let (row, returnRegister) = (rules.row, rules.returnRegister)
    if case .undefined = row[returnRegister] { return .none }
    let caller = try apply(row, registers)
    // A function that has called another cannot have its return address in the register.
    if case .unchanged = row[returnRegister], !isExact { throw UnwindFailure() }
    guard let value = caller[returnRegister] else { throw UnwindFailure() }
    registers = caller
    registers.programCounter = registers.processor == .arm64 ? value & Self.arm64AddressBits : value
    if registers.programCounter == 0 { return .none }
    return rules.isSignalFrame ? .interrupted : .caller
  }

  private struct Rules {
    var row: UnwindRow
    var returnRegister: UInt64
    var isSignalFrame = false
  }

  /// Returns the rules of the frame whose code is at an address; nil if there are none.
  private func rules(
    at address: UInt64, in code: StackUnwinder.Code, _ processor: Processor, isExact: Bool
  ) throws(UnwindFailure) -> Rules? {
    if let rules = known[address] { return rules }
    let rules: Rules
    switch try UnwindTable(read: read, header: code.unwindTable, image: code.range).entry(at: address) {
    case .entry(let entry):
      rules = Rules(
        row: try UnwindRow(entry, at: address, read: read), returnRegister: entry.returnRegister,
        isSignalFrame: entry.isSignalFrame)
    case .none(let lowerBound):
      guard processor == .arm64, !isExact,
        let row = Arm64Prologue(read: read).row(at: address, lowerBound: lowerBound)
      else { return nil }
      return Rules(row: row, returnRegister: Arm64Prologue.returnRegister)
    }
    if known.count < Self.knownLimit { known[address] = rules }
    return rules
  }

  /// Replaces the registers by the registers that a signal interrupted, if the code at the address returns from a
  /// signal handler of arm64. The kernel's code has no unwind tables. Source: Linux 6.12,
  /// arch/arm64/include/uapi/asm/sigcontext.h (sigcontext) and arch/arm64/kernel/vdso/sigreturn.S.
  private func leaveHandler(_ registers: inout UnwindRegisters, at address: UInt64) -> Bool {
    guard registers.processor == .arm64, let stackPointer = registers.stackPointer,
      word(at: address) == Self.arm64SignalReturn
    else { return false }
    // x0 to x30, the stack pointer and the program counter.
    for number in 0...32 as ClosedRange<UInt64> {
      registers[number] = word(at: stackPointer &+ Self.arm64SavedRegisters &+ number &* 8)
    }
    return true
  }

  /// `mov x8, #139` (`rt_sigreturn`), then `svc #0`.
  private static let arm64SignalReturn: UInt64 = 0xD400_0001_D280_1168
  /// Bytes from a signal frame's start to the saved x0.
  private static let arm64SavedRegisters: UInt64 = 312

  /// The bits of an address on arm64. The bits above may sign a return address.
  private static let arm64AddressBits: UInt64 = (1 << 48) - 1

  private func apply(_ row: UnwindRow, _ registers: UnwindRegisters) throws(UnwindFailure) -> UnwindRegisters {
    func value(_ expression: Range<UInt64>, first: UInt64?) throws(UnwindFailure) -> UInt64 {
      var evaluation = UnwindExpression(registers: registers, read: read)
      return try evaluation.value(of: expression, first: first)
    }
    let frameAddress: UInt64
    switch row.frameAddress {
    case .unknown: throw UnwindFailure()
    case .register(let number, let offset):
      guard let base = registers[number] else { throw UnwindFailure() }
      frameAddress = base &+ UInt64(bitPattern: offset)
    case .expression(let expression): frameAddress = try value(expression, first: nil)
    }
    var caller = registers
    caller.stackPointer = frameAddress
    for number in 0..<UInt64(UnwindRow.registerLimit) {
      switch row[number] {
      case .unchanged: continue
      case .undefined: caller[number] = nil
      case .atOffset(let offset): caller[number] = word(at: frameAddress &+ UInt64(bitPattern: offset))
      case .offset(let offset): caller[number] = frameAddress &+ UInt64(bitPattern: offset)
      case .register(let other): caller[number] = registers[other]
      // A register that cannot be found matters only if a later frame needs it.
      case .atExpression(let expression):
        caller[number] = (try? value(expression, first: frameAddress)).flatMap(word)
      case .expression(let expression): caller[number] = try? value(expression, first: frameAddress)
      }
    }
    return caller
  }

  private func word(at address: UInt64) -> UInt64? {
    var cursor = UnwindCursor(read: read, address: address, end: address.addingReportingOverflow(8).partialValue)
    return try? cursor.number(UInt64.self)
  }

  private func code(at address: UInt64) -> StackUnwinder.Code? {
    var low = 0
    var high = codes.count
    while low < high {
      let middle = (low + high) / 2
      if codes[middle].range.upperBound <= address { low = middle + 1 } else { high = middle }
    }
    return low < codes.count && codes[low].range.contains(address) ? codes[low] : nil
  }
}
