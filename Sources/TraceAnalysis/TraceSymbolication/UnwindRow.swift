// Where a frame's caller has its registers, by the instructions of an unwind table.

import TraceReading

/// The rules that give the registers of a frame's caller. Source: DWARF 4, 6.4.1 and 6.4.2.
struct UnwindRow {
  enum Rule {
    /// The register has no value in the caller.
    case undefined
    case unchanged
    /// The value is in memory, at this distance from the frame's CFA.
    case atOffset(Int64)
    /// The value is the CFA plus a number.
    case offset(Int64)
    case register(UInt64)
    /// The value is in memory, at the address that an expression gives.
    case atExpression(Range<UInt64>)
    /// An expression gives the value.
    case expression(Range<UInt64>)
  }

  /// The canonical frame address: the caller's stack pointer.
  enum FrameAddress {
    case unknown
    case register(UInt64, Int64)
    case expression(Range<UInt64>)
  }

  var frameAddress = FrameAddress.unknown
  /// The rules of the registers with a number below `registerLimit`.
  var rules = [Rule](repeating: .unchanged, count: Self.registerLimit)

  /// Registers with higher numbers hold vectors or states of the processor. No frame address depends on them.
  static let registerLimit = 33

  subscript(register: UInt64) -> Rule {
    get { register < UInt64(Self.registerLimit) ? rules[Int(register)] : .undefined }
    set { if register < UInt64(Self.registerLimit) { rules[Int(register)] = newValue } }
  }
}

extension UnwindRow {
  /// Executes the instructions of an entry up to the row of `address`. Linear in the bytes of the instructions.
  init(_ entry: UnwindEntry, at address: UInt64, read: @escaping UnwindCursor.Read) throws(UnwindFailure) {
    self.init()
    var program = UnwindProgram(entry: entry, target: address)
    program.location = entry.code.lowerBound
    try program.run(entry.initialInstructions, read, &self)
    program.initial = self
    program.location = entry.code.lowerBound
    try program.run(entry.instructions, read, &self)
  }
}

/// The execution of an entry's instructions.
private struct UnwindProgram {
  let entry: UnwindEntry
  let target: UInt64
  var location: UInt64 = 0
  /// The rules at the function's start. Nil while the common instructions run.
  var initial: UnwindRow?
  var remembered: [UnwindRow] = []

  private static let rememberedLimit = 64

  init(entry: UnwindEntry, target: UInt64) { (self.entry, self.target) = (entry, target) }

  mutating func run(_ instructions: Range<UInt64>, _ read: @escaping UnwindCursor.Read, _ row: inout UnwindRow)
    throws(UnwindFailure)
  {
    var cursor = UnwindCursor(read: read, address: instructions.lowerBound, end: instructions.upperBound)
    while !cursor.isAtEnd, location <= target {
      let code = try cursor.number(UInt8.self)
      let operand = UInt64(code & 0x3F)
      switch code & 0xC0 {
      case 0x40: advance(operand)
      case 0x80: row[operand] = .atOffset(try scaled(cursor.unsigned()))
      case 0xC0: row[operand] = initial?[operand] ?? .unchanged
      default: try execute(code, &cursor, &row)
      }
    }
  }

  private mutating func advance(_ steps: UInt64) { location &+= steps &* entry.codeAlignment }

  private func scaled(_ number: UInt64) -> Int64 { Int64(bitPattern: number) &* entry.dataAlignment }

  private func block(_ cursor: inout UnwindCursor) throws(UnwindFailure) -> Range<UInt64> {
    let size = try cursor.unsigned()
    let start = cursor.address
    try cursor.skip(size)
    return start..<cursor.address
  }

  private mutating func execute(_ code: UInt8, _ cursor: inout UnwindCursor, _ row: inout UnwindRow)
    throws(UnwindFailure)
  {
    switch code {
    case 0x00: break
    case 0x01:
      guard let next = try cursor.pointer(encoding: entry.pointerEncoding) else { throw UnwindFailure() }
      location = next
    case 0x02: advance(UInt64(try cursor.number(UInt8.self)))
    case 0x03: advance(UInt64(try cursor.number(UInt16.self)))
    case 0x04: advance(UInt64(try cursor.number(UInt32.self)))
    case 0x0A:
      guard remembered.count < Self.rememberedLimit else { throw UnwindFailure() }
      remembered.append(row)
    case 0x0B:
      guard let last = remembered.popLast() else { throw UnwindFailure() }
      row = last
    case 0x2E: _ = try cursor.unsigned()  // DW_CFA_GNU_args_size
    case 0x2C, 0x2D: break  // arm64: return addresses are signed from here on, or not any more
    case 0x0C...0x0F, 0x12, 0x13: try setFrameAddress(code, &cursor, &row)
    default: try setRule(code, &cursor, &row)
    }
  }

  private func setFrameAddress(_ code: UInt8, _ cursor: inout UnwindCursor, _ row: inout UnwindRow)
    throws(UnwindFailure)
  {
    var current: (UInt64, Int64)?
    if case .register(let register, let offset) = row.frameAddress { current = (register, offset) }
    switch code {
    case 0x0C:
      row.frameAddress = .register(try cursor.unsigned(), Int64(bitPattern: try cursor.unsigned()))
    case 0x12: row.frameAddress = .register(try cursor.unsigned(), try cursor.signed() &* entry.dataAlignment)
    case 0x0F: row.frameAddress = .expression(try block(&cursor))
    case 0x0D:
      guard let current else { throw UnwindFailure() }
      row.frameAddress = .register(try cursor.unsigned(), current.1)
    case 0x0E:
      guard let current else { throw UnwindFailure() }
      row.frameAddress = .register(current.0, Int64(bitPattern: try cursor.unsigned()))
    default:
      guard let current else { throw UnwindFailure() }
      row.frameAddress = .register(current.0, try cursor.signed() &* entry.dataAlignment)
    }
  }

  private func setRule(_ code: UInt8, _ cursor: inout UnwindCursor, _ row: inout UnwindRow) throws(UnwindFailure) {
    guard (0x05...0x16).contains(code) || code == 0x2F else { throw UnwindFailure() }
    let register = try cursor.unsigned()
    switch code {
    case 0x05: row[register] = .atOffset(try scaled(cursor.unsigned()))
    case 0x06: row[register] = initial?[register] ?? .unchanged
    case 0x07: row[register] = .undefined
    case 0x08: row[register] = .unchanged
    case 0x09: row[register] = .register(try cursor.unsigned())
    case 0x10: row[register] = .atExpression(try block(&cursor))
    case 0x11: row[register] = .atOffset(try cursor.signed() &* entry.dataAlignment)
    case 0x14: row[register] = .offset(try scaled(cursor.unsigned()))
    case 0x15: row[register] = .offset(try cursor.signed() &* entry.dataAlignment)
    case 0x16: row[register] = .expression(try block(&cursor))
    case 0x2F: row[register] = .atOffset(0 &- scaled(try cursor.unsigned()))  // DW_CFA_GNU_negative_offset_extended
    default: throw UnwindFailure()
    }
  }
}
