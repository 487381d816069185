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

  @Test(
    "Whole functions and similar names are not parts",
    arguments: [
      "$s4main7SessionC5startyyFyyYacfU_", "$s4main3TQ1V", "TQ_", "_", "", "$s4main5TY1_x", "$s4mainyyYaFTZ1_",
    ])
  func others(name: String) {
    #expect(AsyncLoops.function(ofPart: name) == nil)
  }
}
