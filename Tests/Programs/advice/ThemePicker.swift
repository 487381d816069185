// An observer whose closure keeps the owner of the notification centre.
import Foundation

final class ThemePicker {
  private let center = NotificationCenter()
  private var token: (any NSObjectProtocol)?
  private var changes = 0

  @inline(never) func appear() {
    let name = Notification.Name("theme")
    #if MENDED
      token = center.addObserver(forName: name, object: nil, queue: nil) { [weak self] _ in self?.changes += 1 }
    #else
      token = center.addObserver(forName: name, object: nil, queue: nil) { _ in self.changes += 1 }  // to change
    #endif
    center.post(name: name, object: nil)
  }

  @inline(never) static func pick() {
    for _ in 0..<4 {
      let picker = ThemePicker()
      picker.appear()
    }
  }
}
