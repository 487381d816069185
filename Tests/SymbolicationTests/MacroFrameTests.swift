import Testing

@testable import TraceSymbolication

/// The line of a macro's expansion is not a line of the user's code.
@Suite struct MacroFrameTests {
  private func kind(_ full: String, file: String?) -> SourceFrame.Kind {
    let name = DemangledName(
      full: full, short: full, language: .swift, module: "ShopTests", isThunk: false, isMerged: false, isAsync: false,
      asyncPart: nil)
    return SystemCode.kind(
      of: name, mangled: "$s9ShopTests", inImage: "/b/Shop.xctest",
      position: file.map { SourcePosition(file: $0, line: 1, column: 1) })
  }

  @Test func expandedCodeDoesNotBelongToTheUser() {
    #expect(
      kind("ShopTests.opens() -> ()", file: "/tmp/swift-generated-sources/@__swiftmacro_9ShopTests_6expectfMf_.swift")
        == .thunk)
    #expect(
      kind(
        "freestanding macro expansion #1 of expect in module ShopTests file ShopTests.swift line 4 column 39",
        file: "/src/ShopTests.swift") == .thunk)
    #expect(
      kind(
        "freestanding macro expansion #1 of expect in module ShopTests file ShopTests.swift line 4 column 39", file: nil
      ) == .thunk)
  }

  @Test func functionThatUsesAMacroBelongsToTheUser() {
    #expect(kind("ShopTests.opens() -> ()", file: "/src/ShopTests.swift") == .user)
    #expect(kind("ShopTests.opens() -> ()", file: nil) == .user)
  }
}
