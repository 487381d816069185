// Tests with XCTest. Some of them leak.

import LeakTraceTesting
import XCTest

final class Node { var other: Node? }

@inline(never) func makeCycle() {
  let node = Node()
  node.other = node
}
/// Makes several cycles: a single one may be missed.
func makeCycles() { for _ in 0..<8 { makeCycle() } }
@inline(never) func makeNone() { _ = Node() }

final class LeakyTests: XCTestCase {
  func testLeaks() { XCTAssertNoLeaks { makeCycles() } }
  func testLeaksLater() async {
    await XCTAssertNoLeaks {
      await Task.yield()
      makeCycles()
    }
  }
  func testLeaksUntilTheEnd() {
    expectNoLeaks()
    makeCycles()
  }
  func testLeaksWhatIsAllowed() { XCTAssertNoLeaks(allowing: ["Node": 1]) { makeCycle() } }
  func testLeaksBefore() {
    makeCycles()
    let number = XCTAssertNoLeaks { () -> Int in
      makeNone()
      return 7
    }
    XCTAssertEqual(number, 7)
  }
  func testEnds() async {
    await XCTAssertNoLeaks {
      for _ in 0..<100 {
        makeNone()
        await Task.yield()
      }
    }
  }

  // As the package manager calls the lists that it writes.
  static let __allTests__LeakyTests = [
    ("testLeaks", testLeaks), ("testLeaksUntilTheEnd", testLeaksUntilTheEnd), ("testLeaksWhatIsAllowed", testLeaksWhatIsAllowed),
    ("testLeaksBefore", testLeaksBefore), ("testLeaksLater", asyncTest(testLeaksLater)), ("testEnds", asyncTest(testEnds)),
  ]
}

@main struct Runner {
  static func main() { XCTMain([testCase(LeakyTests.__allTests__LeakyTests)]) }
}
