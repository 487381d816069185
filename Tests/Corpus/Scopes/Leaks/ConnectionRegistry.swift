// A server keeps its connections in a registry, and forgets to take out those that were closed by the other side.

final class ClientConnection {
  let id: Int
  private var received: [UInt8] = []

  init(id: Int) { self.id = id }

  func receive(_ bytes: [UInt8]) {
    received += bytes
    note(received.count)
  }
}

final class GatewayServer {
  private var connections: [Int: ClientConnection] = [:]
  private let forgetsResets: Bool

  init(forgetsResets: Bool) { self.forgetsResets = forgetsResets }

  func accept(_ id: Int) -> ClientConnection {
    let connection = ClientConnection(id: id)
    connections[id] = connection
    return connection
  }

  func closed(_ connection: ClientConnection, byReset: Bool) {
    if byReset, forgetsResets { return }
    connections[connection.id] = nil
  }
}

enum ConnectionRegistry: FaultyProgram {
  nonisolated(unsafe) private static var server: GatewayServer?

  static func faulty() { run(GatewayServer(forgetsResets: true)) }
  static func correct() { run(GatewayServer(forgetsResets: false)) }

  private static func run(_ server: GatewayServer) {
    self.server = server
    for id in 0..<200 { converse(id, with: server) }
  }

  @inline(never) private static func converse(_ id: Int, with server: GatewayServer) {
    let connection = server.accept(id)
    for size in 1..<4 { connection.receive(Array(repeating: UInt8(size), count: size * 40)) }
    server.closed(connection, byReset: id % 10 == 9)
  }
}
