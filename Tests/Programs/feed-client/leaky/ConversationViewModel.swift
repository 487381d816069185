// A conversation: shows messages as they come in.
import Foundation

final class ConversationViewModel: ViewModel, @unchecked Sendable {
  private let session: Session
  private let lock = NSLock()
  private var messages: [Message] = []

  init(session: Session) {
    self.session = session
    Census.shared.born(Self.self)
  }

  deinit { Census.shared.died(Self.self) }

  func screenDidOpen() {
    let incoming = session.server.messages(in: 1)
    Task {
      for await message in incoming { self.show(message) }
    }
  }

  func screenDidClose() {}

  private func show(_ message: Message) {
    lock.withLock { messages.append(message) }
  }
}
