// A task that waits for a stream which the captured object alone can finish.
import Dispatch

final class Chat: @unchecked Sendable {
  private static let heard = DispatchSemaphore(value: 0)
  private let messages: AsyncStream<String>
  private let sender: AsyncStream<String>.Continuation
  private var received = 0

  init() { (messages, sender) = AsyncStream.makeStream() }

  @inline(never) func start() {
    let messages = messages
    #if MENDED
      Task { [weak self] in
        for await _ in messages {
          self?.received += 1
          Self.heard.signal()
        }
      }
    #else
      Task {  // to change
        for await _ in messages {
          self.received += 1
          Self.heard.signal()
        }
      }
    #endif
    sender.yield("hello")
  }

  #if MENDED
    deinit { sender.finish() }
  #endif

  @inline(never) static func join() {
    for _ in 0..<4 {
      let chat = Chat()
      chat.start()
    }
    for _ in 0..<4 { heard.wait() }
    // From there to where it waits again, or to its end, a task has a few steps.
    settle()
  }
}
