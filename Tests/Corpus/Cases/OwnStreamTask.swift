// A task that waits for the next element of a stream that only its own captures could still feed.

final class ChatSession: @unchecked Sendable {
  private let stream: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation
  private var received = 0

  init() { (stream, continuation) = AsyncStream<String>.makeStream() }

  func start() {
    Task.detached {
      for await message in self.stream { self.received += message.count }
    }
    continuation.yield("hello")
  }

  func leave() { continuation.finish() }
}

enum OwnStreamTask: FaultyProgram {
  static func faulty() {
    for _ in 0..<4 { join() }
    settle()
  }

  static func correct() {
    for _ in 0..<4 { joinAndLeave() }
    settle()
  }

  @inline(never) private static func join() { ChatSession().start() }

  @inline(never) private static func joinAndLeave() {
    let session = ChatSession()
    session.start()
    session.leave()
  }
}
