// View models observe a notification. No one keeps the token that would end the observation.
import Foundation

extension Notification.Name {
  static let mailArrived = Notification.Name("mail arrived")
}

final class InboxViewModel: @unchecked Sendable {
  private var subjects: [String] = []
  private var token: (any NSObjectProtocol)?

  func observe() {
    _ = NotificationCenter.default.addObserver(forName: .mailArrived, object: nil, queue: nil) { self.receive($0) }
  }

  func observeUntilClosed() {
    token = NotificationCenter.default.addObserver(forName: .mailArrived, object: nil, queue: nil) { self.receive($0) }
  }

  func close() {
    if let token { NotificationCenter.default.removeObserver(token) }
    token = nil
  }

  private func receive(_ notification: Notification) {
    subjects.append("mail number \(subjects.count) of \(notification.name.rawValue)")
    note(subjects.count)
  }
}

enum NotificationObserver: FaultyProgram {
  static func faulty() {
    for _ in 0..<8 { showAndForget() }
    NotificationCenter.default.post(name: .mailArrived, object: nil)
  }

  static func correct() {
    for _ in 0..<8 { showAndClose() }
    NotificationCenter.default.post(name: .mailArrived, object: nil)
  }

  @inline(never) private static func showAndForget() {
    let viewModel = InboxViewModel()
    viewModel.observe()
    NotificationCenter.default.post(name: .mailArrived, object: nil)
  }

  @inline(never) private static func showAndClose() {
    let viewModel = InboxViewModel()
    viewModel.observeUntilClosed()
    NotificationCenter.default.post(name: .mailArrived, object: nil)
    viewModel.close()
  }
}
