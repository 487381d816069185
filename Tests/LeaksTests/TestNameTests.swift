import Testing

@testable import LeakDetection
@testable import TraceReading
@testable import TraceSymbolication

/// A stack shows which test was running.
@Suite struct TestNameTests {
  private func frame(
    _ function: String, full: String? = nil, mangled: String = "$s9ShopTests1fyyF", kind: SourceFrame.Kind = .user
  ) -> SourceFrame {
    SourceFrame(
      function: function, fullFunction: full ?? function, mangledName: mangled, imagePath: "/b/Shop.xctest", file: nil,
      line: nil, column: nil, isInlined: false, kind: kind, isAsync: false,
      asyncPart: nil)
  }

  private func names(image: String = "/b/ShopPackageTests.xctest") -> TestNames {
    TestNames(images: [
      LoadedImage(path: image, buildID: [], loadBias: 0, range: RuntimeAddress(0x1000)..<RuntimeAddress(0x2000))
    ]) { token in
      [
        "$s9ShopTests04TillB0V5opens4TestfMp_": "peer macro @Test expansion #1 of opens in ShopTests.TillTests",
        "$s9ShopTests5opens4TestfMp0_": "peer macro @Test expansion #2 of opens in ShopTests",
        "$s9ShopTests3abc4TestfMp_":
          "peer macro @Test expansion #1 of the till opens in time in ShopTests.TillTests.Inner",
      ][token]
    }
  }

  private var runner: SourceFrame {
    frame("XCTestCase.invokeTest()", mangled: "$s6XCTest0A4CaseC10invokeTestyyF", kind: .systemLibrary)
  }
  private var list: SourceFrame {
    frame(
      "implicit closure #4 in …",
      full:
        "implicit closure #4 in variable initialization expression of static ShopTests.BasketTests.(__allTests__BasketTests in _2)"
    )
  }

  @Test(
    arguments: [
      (
        "static ShopTests.TillTests.($s9ShopTests04TillB0V5opens4TestfMp_17Z1c9a49ec02b3d4ccfMu_ in _7C)@Sendable () async throws -> ()",
        "TillTests.opens"
      ),
      (
        "implicit closure #1 in ShopTests.($s9ShopTests5opens4TestfMp0_25generator2aef531c0d6e8fd0fMu_ in _7C)@Sendable () async -> Testing.Test",
        "opens"
      ),
      ("$s9ShopTests3abc4TestfMp_17Zfmu_", "TillTests.Inner.the till opens in time"),
      ("ShopTests.latest4TestfMp() -> ()", nil), ("ShopTests.x4TestfMp_() -> ()", nil), ("4TestfMp_", nil),
      ("$s4TestfMp", nil), ("$s9ShopTests7unknown4TestfMp_", nil),
    ] as [(String, String?)])
  func testMacroExpansionNamesItsTest(function: String, test: String?) {
    #expect(
      names().test([
        frame("Basket.init()"), frame("ShopTests.helper()"), frame("thunk", full: function, kind: .thunk),
        frame("Runner._run()", kind: .systemLibrary),
      ]) == test)
  }

  @Test func methodCalledByXCTestIsTheTest() {
    let assertion = frame("XCTAssertNotNil(_:)", mangled: "$s6XCTest14XCTAssertNotNilyyF", kind: .systemLibrary)
    let stack = [
      frame("Basket.init()"), assertion, frame("ShopTests.BasketTests.testFilling()"), frame("thunk", kind: .thunk),
      list, runner, frame("main", mangled: "main"),
    ]
    #expect(names().test(stack) == "BasketTests.testFilling")
    #expect(
      names().test([frame("Basket.init()"), frame("ShopTests.BasketTests.setUp()"), runner]) == "BasketTests.setUp")
    // XCTest makes all test cases before it runs any of them.
    #expect(names().test([frame("ShopTests.BasketTests.__allocating_init(name:testClosure:)"), runner]) == nil)
  }

  @Test func programWithoutTestsIsNotSearched() {
    let program = names(image: "/b/app")
    #expect(
      !program.isTestRun && program.test([frame("f()", full: "$s9ShopTests04TillB0V5opens4TestfMp_17Z1fMu_")]) == nil)
    #expect(
      names(image: "/usr/lib/swift/linux/libXCTest.so").isTestRun
        && names(image: "/usr/lib/swift/linux/libTesting.so").isTestRun)
  }
}
