// A timer, invalidated. The library leaks every timer: what its block captures goes with it.
import Foundation

final class PresenceScreen: @unchecked Sendable {
  private var refreshes = 0

  func startTimer() -> Timer {
    Timer.scheduledTimer(withTimeInterval: 3600, repeats: true) { _ in self.refreshes += 1 }
  }

  func startTimerWeakly() -> Timer {
    Timer.scheduledTimer(withTimeInterval: 3600, repeats: true) { [weak self] _ in self?.refreshes += 1 }
  }
}

enum PresenceTimer: FaultyProgram {
  static func faulty() { for _ in 0..<3 { show() } }
  static func correct() { for _ in 0..<3 { showWeakly() } }

  @inline(never) private static func show() {
    let screen = PresenceScreen()
    let timer = screen.startTimer()
    timer.invalidate()
  }

  @inline(never) private static func showWeakly() {
    let screen = PresenceScreen()
    let timer = screen.startTimerWeakly()
    timer.invalidate()
  }
}
