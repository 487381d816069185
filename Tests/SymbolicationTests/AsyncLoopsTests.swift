// The names of the parts into which the compiler divides async functions.

import Testing

@testable import TraceSymbolication

@Suite struct AsyncLoopsTests {
  @Test(
    "A part is named after its function",
    arguments: [
      ("$s4main7SessionC5startyyFyyYacfU_TQ1_", "$s4main7SessionC5startyyFyyYacfU_"),
      ("$s4main7SessionC5startyyFyyYacfU_TY12_", "$s4main7SessionC5startyyFyyYacfU_"),
      ("$s4main4OnceCyACSicfcyyYacfU_TATQ0_", "$s4main4OnceCyACSicfcyyYacfU_TA"),
    ])
  func parts(name: String, function: String) {
    #expect(AsyncLoops.function(ofPart: name) == function)
  }

  @Test("Branches and computed addresses of arm64 lead to parts")
  func arm64() {
    let base: UInt64 = 0x7_1230
    /// Returns the targets of code that begins at `base`.
    func targets(_ code: [UInt32], _ starts: Set<UInt64>) -> Set<UInt64> {
      code.map(\.littleEndian).withUnsafeBytes { AsyncLoops.targetsOnArm64(in: $0, at: base, among: starts) }
    }
    #expect(targets([0xD503_201F, 0x1400_0003], [base + 16]) == [base + 16])  // B +12
    #expect(targets([0x97FF_FFFE], [base - 8]) == [base - 8])  // BL −8
    #expect(targets([0x5400_0040], [base + 8]) == [base + 8])  // B.EQ +8
    #expect(targets([0xB5FF_FFE1], [base - 4]) == [base - 4])  // CBNZ x1, −4
    #expect(targets([0x3707_FFA0], [base - 12]) == [base - 12])  // TBNZ w0, #0, −12
    #expect(targets([0x3000_0028], [base + 5]) == [base + 5])  // ADR x8, +5
    // ADRP x8, +2 pages; ADD x9, x8, #0x398. The page belongs to the register.
    #expect(targets([0xD000_0008, 0x910E_6109], [0x7_3398]) == [0x7_3398])
    #expect(targets([0xD000_0008, 0x910E_6129], [0x7_3398]).isEmpty)
    #expect(targets([0xD000_0008, 0x910E_6109], [0x7_3000, 0x7_3390]).isEmpty)
    #expect(targets([], [base]).isEmpty)
  }

  @Test(
    "Whole functions and similar names are not parts",
    arguments: [
      "$s4main7SessionC5startyyFyyYacfU_", "$s4main3TQ1V", "TQ_", "_", "", "$s4main5TY1_x", "$s4mainyyYaFTZ1_",
    ])
  func others(name: String) {
    #expect(AsyncLoops.function(ofPart: name) == nil)
  }
}
