// Answers the requests of one connection.
import NIOCore
import NIOHTTP1

final class SessionHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let forgetsClosed: Bool
  private var state: SessionState?
  private var monitor: IdleMonitor?
  private var head: HTTPRequestHead?

  /// `forgetsClosed`: the fault. What belongs to a connection stays when it is closed.
  init(forgetsClosed: Bool) { self.forgetsClosed = forgetsClosed }

  func channelActive(context: ChannelHandlerContext) {
    state = SessionRegistry.shared.open()
    let monitor = IdleMonitor()
    monitor.start(on: context.eventLoop)
    self.monitor = monitor
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    if !forgetsClosed {
      if let state { SessionRegistry.shared.close(state) }
      monitor?.stop()
    }
    state = nil
    monitor = nil
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): self.head = head
    case .body: break
    case .end: answer(context)
    }
  }

  private func answer(_ context: ChannelHandlerContext) {
    guard let head, let state else { return }
    monitor?.active()
    let body = context.channel.allocator.buffer(string: "visit \(state.visited(head.uri)) of session \(state.number)\n")
    var response = HTTPResponseHead(version: head.version, status: .ok)
    response.headers.add(name: "content-length", value: "\(body.readableBytes)")
    if !head.isKeepAlive { response.headers.add(name: "connection", value: "close") }
    context.write(wrapOutboundOut(.head(response)), promise: nil)
    context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
    let written = context.eventLoop.makePromise(of: Void.self)
    if !head.isKeepAlive {
      let channel = context.channel
      written.futureResult.whenComplete { _ in channel.close(promise: nil) }
    }
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
  }
}
