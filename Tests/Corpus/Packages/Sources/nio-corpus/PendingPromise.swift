// A handler that stores a promise whose callback captures the handler, and never completes it.
import NIOCore
import NIOEmbedded

final class RequestHandler: ChannelInboundHandler, @unchecked Sendable {
  typealias InboundIn = ByteBuffer

  private var reply: EventLoopPromise<Int>?
  private var replies = 0

  func send(on eventLoop: any EventLoop) {
    let promise = eventLoop.makePromise(of: Int.self)
    promise.futureResult.whenSuccess { self.replies += $0 }
    reply = promise
    note(replies)
  }

  func complete() { reply?.succeed(1) }
}

enum PendingPromise: FaultyProgram {
  static func faulty() { for _ in 0..<5 { request(completing: false) } }
  static func correct() { for _ in 0..<5 { request(completing: true) } }

  @inline(never) private static func request(completing: Bool) {
    let handler = RequestHandler()
    let channel = EmbeddedChannel(handler: handler)
    handler.send(on: channel.eventLoop)
    if completing { handler.complete() }
    _ = try? channel.finish()
  }
}
