// Tests that run at the same time and share objects. Some leave more objects behind each time they run, and keep holding them.

import Foundation
import LeakTraceTesting
import Testing

final class Screen {
  let title: String
  init(_ title: String) { self.title = title }
}

final class Navigator: @unchecked Sendable {
  static let shared = Navigator()
  private var history: [Screen] = []
  private var recent: [Screen] = []
  private let lock = NSLock()

  func open(_ title: String) { lock.withLock { history.append(Screen(title)) } }

  /// Keeps the last few.
  func glance(_ title: String) {
    lock.withLock {
      recent.append(Screen(title))
      if recent.count > 6 { recent.removeFirst() }
    }
  }
}

final class Visits: @unchecked Sendable {
  static let shared = Visits()
  private var times: [Int: String] = [:]
  private var unasked: [Int: String] = [:]
  private let lock = NSLock()
  func note() { lock.withLock { times[times.count] = "a visit that takes some room, \(times.count)" } }
  func noteUnasked() { lock.withLock { unasked[unasked.count] = "a visit that takes some room, \(unasked.count)" } }
}

@Suite struct GrowthTests {
  @Test(.noGrowth) func forgetsScreens() async {
    await Task.yield()
    for number in 0..<4 { Navigator.shared.open("screen \(number)") }
  }

  @Test(.noGrowth(repeating: 5)) func forgetsScreensOfChildTasks() async {
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<4 { group.addTask { Navigator.shared.open("screen \(number)") } }
    }
  }

  @Test(.noGrowth) func writesDownEachVisit() async {
    await Task.yield()
    for _ in 0..<4 { Visits.shared.note() }
  }

  @Test(.noGrowth) func keepsTheLastFew() async {
    for number in 0..<4 {
      Navigator.shared.glance("screen \(number)")
      await Task.yield()
    }
  }

  @Test(.noGrowth, arguments: 0..<2) func keepsNothing(number: Int) async {
    let screens = (0..<50).map { Screen("screen \($0 + number)") }
    await Task.yield()
    #expect(screens.count == 50)
  }

  @Test(.noGrowth(repeating: 3)) func isNotRepeatedOftenEnough() {}

  /// Grows while the others run, but has no trait that checks its growth.
  @Test func growsUnasked() async {
    for _ in 0..<200 {
      Visits.shared.noteUnasked()
      Navigator.shared.open("another")
      await Task.yield()
    }
  }
}

@main struct Runner {
  static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
