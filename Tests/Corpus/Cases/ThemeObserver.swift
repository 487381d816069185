// A notification observer's block captures the object that owns the centre and the observer's token.
import Foundation

final class ThemeScreen: @unchecked Sendable {
  private let center = NotificationCenter()
  private var token: (any NSObjectProtocol)?
  private var changes = 0

  func appear() {
    token = center.addObserver(forName: Notification.Name("theme"), object: nil, queue: nil) { _ in self.changes += 1 }
    center.post(name: Notification.Name("theme"), object: nil)
    note(changes)
  }

  func disappear() {
    if let token { center.removeObserver(token) }
    token = nil
  }
}

enum ThemeObserver: FaultyProgram {
  static func faulty() { for _ in 0..<4 { show() } }
  static func correct() { for _ in 0..<4 { showAndHide() } }

  @inline(never) private static func show() { ThemeScreen().appear() }

  @inline(never) private static func showAndHide() {
    let screen = ThemeScreen()
    screen.appear()
    screen.disappear()
  }
}
