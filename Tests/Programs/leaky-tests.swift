// Tests run as `swift test` runs them. Some of them leak. They share types, so that one test's leaks could be attributed to another. Each leaks several
// objects: a single one may be missed if some word happens to look like a reference to it.

import LeakTrace
import LeakTraceTesting
import Testing

final class Node {
  var other: Node?
  var closure: (() -> Void)?
}
final class Known { var other: Known? }

@Suite struct SingleTests {
  @Test(.noLeaks) func leaksACycle() async {
    await Task.yield()
    for _ in 0..<8 {
      let a = Node(), b = Node()
      a.other = b
      b.other = a
    }
  }

  @Test(.noLeaks) func leaksInChildTasks() async {
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          let node = Node()
          node.closure = { _ = node }
        }
      }
    }
  }

  @Test(.noLeaks, arguments: 0..<3) func breaksItsCycles(number: Int) async {
    for _ in 0..<100 {
      let a = Node(), b = Node()
      a.other = b
      b.other = a
      await Task.yield()
      b.other = nil
    }
  }

  @Test(.noLeaks(allowing: ["Known": 1])) func leaksWhatIsAllowed() {
    let known = Known()
    known.other = known
  }

  @Test(.noLeaks(allowing: ["Known": 1])) func leaksMoreThanIsAllowed() {
    for _ in 0..<8 {
      let known = Known()
      known.other = known
    }
  }
}

@Suite(.noLeaks) struct LeakySuite {
  @Test func leaksInASuite() async {
    await Task.yield()
    for _ in 0..<8 {
      let node = Node()
      node.other = node
    }
  }
  @Test func leaksNothing() { _ = Node() }
}

@Suite(.noLeaks) struct CleanSuite {
  @Test func makesMuch() async {
    for _ in 0..<1000 { _ = Node() }
  }
}

@main struct Runner {
  static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
