// A server handles each connection in a child of a task group, for as long as it runs. No code reads the children's results.

final class EchoReceipt: Sendable {
  let connection: Int
  init(_ connection: Int) { self.connection = connection }
}

actor EchoServer {
  private(set) var handled = 0

  func handle(_ connection: Int) async -> EchoReceipt {
    await Task.yield()
    handled += 1
    return EchoReceipt(connection)
  }

  func acceptKeepingResults(_ count: Int) async {
    await withTaskGroup(of: EchoReceipt.self) { group in
      for connection in 0..<count {
        group.addTask { await self.handle(connection) }
        while handled < connection { await Task.yield() }
      }
      try? await Task.sleep(for: .seconds(600))
    }
  }

  func accept(_ count: Int) async {
    await withDiscardingTaskGroup { group in
      for connection in 0..<count {
        group.addTask { note(await self.handle(connection).connection) }
        while handled < connection { await Task.yield() }
      }
      try? await Task.sleep(for: .seconds(600))
    }
  }
}

enum UnreadResults: AsyncFaultyProgram {
  private static let server = EchoServer()
  private static let count = 300

  static func faulty() async {
    Task.detached { await server.acceptKeepingResults(count) }
    await waitForAll()
  }

  static func correct() async {
    Task.detached { await server.accept(count) }
    await waitForAll()
  }

  private static func waitForAll() async {
    while await server.handled < count { try? await Task.sleep(for: .milliseconds(5)) }
    try? await Task.sleep(for: .milliseconds(50))
  }
}
