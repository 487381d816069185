// Frames of arm64 functions without unwind tables, by the instructions that set up the frame.

import TraceReading

/// Finds the frame of a function that has called another function. Such a function keeps a frame record, and sets x29
/// once, near its start. Only the frame's address depends on how far the stack pointer has moved by then. The Swift
/// toolchain's libraries omit tables for functions that cannot throw. The recorder does the same
/// (`Sources/CTraceShim/arch/aarch64/code.c`). Source of the encodings: Arm Architecture Reference Manual, "A64
/// instruction set encoding".
struct Arm64Prologue {
  let read: UnwindCursor.Read

  static let returnRegister: UInt64 = 30
  private static let frameRegister: UInt64 = 29
  /// The most bytes before the address that are searched, and the most instructions before the one that sets x29.
  private static let searchLimit: UInt64 = 1 << 16
  private static let prologueLimit: UInt64 = 32

  /// Returns the rules at an address; nil if no instruction before it sets up a frame. `lowerBound`: an address below
  /// the function, or its start.
  func row(at address: UInt64, lowerBound: UInt64) -> UnwindRow? {
    let low = (max(lowerBound, address - min(address, Self.searchLimit)) + 3) & ~3
    var place = address & ~3
    while place >= low + 4, let instruction = instruction(at: place) {
      if let distance = Self.frameDistance(instruction) {
        let moved = stackMoves(before: place, down: low)
        return moved >= distance + 16 ? Self.row(recordAt: distance - moved) : nil
      }
      place -= 4
    }
    return nil
  }

  /// Returns how many bytes the function has moved the stack pointer down before an instruction.
  private func stackMoves(before place: UInt64, down low: UInt64) -> Int64 {
    var moved: Int64 = 0
    var step = place
    while step > low, place - step < Self.prologueLimit * 4 {
      guard let before = instruction(at: step - 4), !Self.isEnd(before) else { break }
      moved += Self.stackMove(before)
      step -= 4
    }
    return moved
  }

  /// The record with the caller's x29 and the return address is at the CFA plus `offset`, and x29 points to it.
  private static func row(recordAt offset: Int64) -> UnwindRow {
    var row = UnwindRow()
    row.frameAddress = .register(frameRegister, -offset)
    row[frameRegister] = .atOffset(offset)
    row[returnRegister] = .atOffset(offset + 8)
    return row
  }

  private func instruction(at address: UInt64) -> UInt32? {
    var cursor = UnwindCursor(read: read, address: address, end: address.addingReportingOverflow(4).partialValue)
    return try? cursor.number(UInt32.self)
  }

  private static func field(_ instruction: UInt32, _ low: UInt32, _ count: UInt32) -> Int64 {
    Int64(instruction >> low & (1 << count - 1))
  }

  private static func signedField(_ instruction: UInt32, _ low: UInt32, _ count: UInt32) -> Int64 {
    let value = field(instruction, low, count)
    return value >> Int64(count - 1) == 0 ? value : value - 1 << Int64(count)
  }

  private static func stackMove(_ i: UInt32) -> Int64 {
    if i & 0xFF80_03FF == 0xD100_03FF {  // SUB sp, sp, #immediate
      return field(i, 10, 12) << (field(i, 22, 1) == 1 ? 12 : 0)
    }
    // STP x or d, [sp, #immediate]!
    if i & 0xFFC0_03E0 == 0xA980_03E0 || i & 0xFFC0_03E0 == 0x6D80_03E0 { return -signedField(i, 15, 7) * 8 }
    // STR x or d, [sp, #immediate]!
    if i & 0xFFE0_0FE0 == 0xF800_0FE0 || i & 0xFFE0_0FE0 == 0xFC00_0FE0 { return -signedField(i, 12, 9) }
    return 0
  }

  /// True for a branch, a return, a trap, or a word that is no instruction. PACIASP, PACIBSP, BTI and NOP have similar
  /// encodings.
  private static func isEnd(_ i: UInt32) -> Bool {
    let isBranch = i & 0x1C00_0000 == 0x1400_0000
    let isHint = i == 0xD503_233F || i == 0xD503_237F || i & 0xFFFF_FF3F == 0xD503_241F || i == 0xD503_201F
    return isBranch && !isHint || i & 0xFFFF_0000 == 0
  }

  /// The distance of ADD x29, sp, #immediate, or of MOV x29, sp. Nil for another instruction.
  private static func frameDistance(_ i: UInt32) -> Int64? {
    i & 0xFFC0_03FF == 0x9100_03FD ? field(i, 10, 12) : nil
  }
}
