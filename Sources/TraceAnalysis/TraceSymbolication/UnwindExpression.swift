// Evaluates the expressions of unwind tables.

import TraceReading

/// The evaluation of one expression. Source: DWARF 4, 2.5.
struct UnwindExpression {
  let registers: UnwindRegisters
  let read: UnwindCursor.Read
  private var stack: [UInt64] = []

  /// An expression that takes more steps, or a deeper stack, is no frame's.
  private static let stepLimit = 1 << 12
  private static let stackLimit = 64

  init(registers: UnwindRegisters, read: @escaping UnwindCursor.Read) {
    (self.registers, self.read) = (registers, read)
  }

  /// Returns the value of the expression in a range of addresses. `first`: the value that the stack begins with.
  mutating func value(of expression: Range<UInt64>, first: UInt64?) throws(UnwindFailure) -> UInt64 {
    stack = first.map { [$0] } ?? []
    var cursor = UnwindCursor(read: read, address: expression.lowerBound, end: expression.upperBound)
    for _ in 0..<Self.stepLimit {
      guard !cursor.isAtEnd else { return try pop() }
      guard stack.count < Self.stackLimit else { throw UnwindFailure() }
      let code = try cursor.number(UInt8.self)
      switch code {
      case 0x30...0x4F: stack.append(UInt64(code - 0x30))
      case 0x70...0x8F: stack.append(try register(UInt64(code - 0x70), plus: cursor.signed()))
      case 0x92: stack.append(try register(cursor.unsigned(), plus: cursor.signed()))
      case 0x03, 0x08...0x11: stack.append(try constant(code, &cursor))
      case 0x06: stack.append(try word(at: pop(), size: 8))
      case 0x94:
        let size = try cursor.number(UInt8.self)
        stack.append(try word(at: pop(), size: Int(size)))
      case 0x12...0x17: try move(code, &cursor)
      case 0x19, 0x1F, 0x20: stack.append(try changed(pop(), code))
      case 0x23: stack.append(try pop() &+ cursor.unsigned())
      case 0x1A...0x27, 0x29...0x2E: try combine(code)
      case 0x28, 0x2F:
        let distance = Int64(try cursor.number(Int16.self))
        let isTaken = code == 0x2F ? true : try pop() != 0
        if isTaken {
          cursor.address &+= UInt64(bitPattern: distance)
          guard cursor.address >= expression.lowerBound, cursor.address <= expression.upperBound else {
            throw UnwindFailure()
          }
        }
      case 0x96: break
      default: throw UnwindFailure()
      }
    }
    throw UnwindFailure()
  }

  private mutating func pop() throws(UnwindFailure) -> UInt64 {
    guard let last = stack.popLast() else { throw UnwindFailure() }
    return last
  }

  private func register(_ number: UInt64, plus offset: Int64) throws(UnwindFailure) -> UInt64 {
    guard let value = registers[number] else { throw UnwindFailure() }
    return value &+ UInt64(bitPattern: offset)
  }

  private func word(at address: UInt64, size: Int) throws(UnwindFailure) -> UInt64 {
    guard (1...8).contains(size) else { throw UnwindFailure() }
    var value: UInt64 = 0
    let isKnown = withUnsafeMutableBytes(of: &value) { bytes in
      read(RuntimeAddress(address), UnsafeMutableRawBufferPointer(rebasing: bytes[..<size]))
    }
    guard isKnown else { throw UnwindFailure() }
    return UInt64(littleEndian: value)
  }

  private func constant(_ code: UInt8, _ cursor: inout UnwindCursor) throws(UnwindFailure) -> UInt64 {
    switch code {
    case 0x03, 0x0E, 0x0F: try cursor.number(UInt64.self)
    case 0x08: UInt64(try cursor.number(UInt8.self))
    case 0x09: UInt64(bitPattern: Int64(try cursor.number(Int8.self)))
    case 0x0A: UInt64(try cursor.number(UInt16.self))
    case 0x0B: UInt64(bitPattern: Int64(try cursor.number(Int16.self)))
    case 0x0C: UInt64(try cursor.number(UInt32.self))
    case 0x0D: UInt64(bitPattern: Int64(try cursor.number(Int32.self)))
    case 0x10: try cursor.unsigned()
    default: UInt64(bitPattern: try cursor.signed())
    }
  }

  private mutating func move(_ code: UInt8, _ cursor: inout UnwindCursor) throws(UnwindFailure) {
    func place(_ depth: Int) throws(UnwindFailure) -> Int {
      guard depth < stack.count else { throw UnwindFailure() }
      return stack.count - 1 - depth
    }
    switch code {
    case 0x12: stack.append(stack[try place(0)])
    case 0x13: _ = try pop()
    case 0x14: stack.append(stack[try place(1)])
    case 0x15: stack.append(stack[try place(Int(cursor.number(UInt8.self)))])
    case 0x16: stack.swapAt(try place(0), try place(1))
    default:
      let top = stack.remove(at: try place(0))
      stack.insert(top, at: try place(1))
    }
  }

  private func changed(_ value: UInt64, _ code: UInt8) -> UInt64 {
    switch code {
    case 0x19: Int64(bitPattern: value).magnitude
    case 0x1F: 0 &- value
    default: ~value
    }
  }

  private mutating func combine(_ code: UInt8) throws(UnwindFailure) {
    let (right, left) = (try pop(), try pop())
    let (signedRight, signedLeft) = (Int64(bitPattern: right), Int64(bitPattern: left))
    let result: UInt64
    switch code {
    case 0x1A: result = left & right
    case 0x1B:
      guard right != 0 else { throw UnwindFailure() }
      result = UInt64(bitPattern: signedLeft.dividedReportingOverflow(by: signedRight).partialValue)
    case 0x1C: result = left &- right
    case 0x1D:
      guard right != 0 else { throw UnwindFailure() }
      result = left % right
    case 0x1E: result = left &* right
    case 0x21: result = left | right
    case 0x22: result = left &+ right
    case 0x24: result = left << right
    case 0x25: result = left >> right
    case 0x26: result = UInt64(bitPattern: signedLeft >> right)
    case 0x27: result = left ^ right
    case 0x29: result = signedLeft == signedRight ? 1 : 0
    case 0x2A: result = signedLeft >= signedRight ? 1 : 0
    case 0x2B: result = signedLeft > signedRight ? 1 : 0
    case 0x2C: result = signedLeft <= signedRight ? 1 : 0
    case 0x2D: result = signedLeft < signedRight ? 1 : 0
    default: result = left == right ? 0 : 1
    }
    stack.append(result)
  }
}
