// A chat server with one leak, for docs/tutorial.md.

/// One client that is logged in.
final class Session {
  let user: String
  private var messages: [String] = []
  private var received: [UInt8] = Array(repeating: 0, count: 16 * 1024)

  init(user: String) { self.user = user }

  func receive(_ text: String) {
    for (index, byte) in text.utf8.enumerated() { received[index] = byte }
    messages.append("\(user): \(text)")
  }

  func close() { messages.removeAll() }
}

final class Server {
  private var sessions: [Int: Session] = [:]

  func logIn(_ client: Int) {
    sessions[client] = Session(user: "user \(client)")
  }

  func receive(_ text: String, from client: Int) {
    sessions[client]?.receive(text)
  }

  func logOut(_ client: Int) {
    sessions.removeValue(forKey: client)?.close()
  }

  /// The connection broke off, without a logout.
  func connectionLost(_ client: Int) {
    sessions[client]?.close()
  }
}
