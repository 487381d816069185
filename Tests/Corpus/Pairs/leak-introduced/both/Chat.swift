// A chat room with a connection. The connection calls the room back.

final class Connection {
  var onMessage: ((String) -> Void)?
  func receive(_ text: String) { onMessage?(text) }
}

final class ChatRoom {
  private let connection = Connection()
  private var messages: [String] = []

  func open() {
    connection.onMessage = { self.messages.append($0) }
  }

  func receive(_ text: String) { connection.receive(text) }

  func close() {
    connection.onMessage = nil
    note(messages.count)
  }
}
