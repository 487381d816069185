// Growth with XCTest: tests that repeat their work and hold its objects.

import LeakTraceTesting
import XCTest

final class Screen {}
final class Navigator: @unchecked Sendable {
  static let shared = Navigator()
  var history: [Screen] = []
  var recent: [Screen] = []
  @inline(never) func open() { history.append(Screen()) }
  @inline(never) func glance() {
    recent.append(Screen())
    if recent.count > 4 { recent.removeFirst() }
  }
}

final class GrowingTests: XCTestCase {
  func testGrows() { XCTAssertNoGrowth { for _ in 0..<3 { Navigator.shared.open() } } }
  func testGrowsLater() async {
    await XCTAssertNoGrowth(repeating: 5) {
      await Task.yield()
      for _ in 0..<3 { Navigator.shared.open() }
    }
  }
  func testKeepsAFew() { XCTAssertNoGrowth { for _ in 0..<3 { Navigator.shared.glance() } } }
  func testEnds() async {
    await XCTAssertNoGrowth {
      let screens = (0..<20).map { _ in Screen() }
      await Task.yield()
      XCTAssertEqual(screens.count, 20)
    }
  }

  static let allTests = [
    ("testGrows", testGrows), ("testKeepsAFew", testKeepsAFew), ("testGrowsLater", asyncTest(testGrowsLater)), ("testEnds", asyncTest(testEnds)),
  ]
}

@main struct Runner {
  static func main() { XCTMain([testCase(GrowingTests.allTests)]) }
}
