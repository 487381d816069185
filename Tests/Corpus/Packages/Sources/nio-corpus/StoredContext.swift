// A handler that stores its context and keeps it after it was removed: each refers to the other.
import NIOCore
import NIOEmbedded

final class EchoHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private var context: ChannelHandlerContext?
  private let forgets: Bool
  private var echoes = 0

  init(forgets: Bool) { self.forgets = forgets }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }
  func handlerRemoved(context: ChannelHandlerContext) { if forgets { self.context = nil } }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    echoes += unwrapInboundIn(data).readableBytes
    note(echoes)
  }
}

enum StoredContext: FaultyProgram {
  static func faulty() { for _ in 0..<3 { echo(EchoHandler(forgets: false)) } }
  static func correct() { for _ in 0..<3 { echo(EchoHandler(forgets: true)) } }

  @inline(never) private static func echo(_ handler: EchoHandler) {
    let channel = EmbeddedChannel(handler: handler)
    _ = try? channel.writeInbound(ByteBuffer(string: "hello"))
    _ = try? channel.finish()
  }
}
