// A conversation: shows messages as they come in.
import Foundation

final class ConversationViewModel: ViewModel, @unchecked Sendable {
  private let session: Session
  private let lock = NSLock()
  private var messages: [Message] = []
  private var reading: Task<Void, Never>?

  init(session: Session) {
    self.session = session
    Census.shared.born(Self.self)
  }

  deinit { Census.shared.died(Self.self) }

  func screenDidOpen() {
    let incoming = session.server.messages(in: 1)
    reading = Task { [weak self] in
      for await message in incoming { self?.show(message) }
    }
  }

  func screenDidClose() {
    reading?.cancel()
    reading = nil
  }

  private func show(_ message: Message) {
    lock.withLock { messages.append(message) }
  }
}
