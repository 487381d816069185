// A chat relay on SwiftNIO, and guests that connect, write a line and leave. With "leak", each visit owns a promise
// that is never completed, and the promise's callback keeps the visit.
import NIOCore
import NIOPosix
import Synchronization

/// The connected guests.
final class Room: Sendable {
  private let guests = Mutex<[ObjectIdentifier: any Channel]>([:])

  func enter(_ channel: any Channel) { guests.withLock { $0[ObjectIdentifier(channel)] = channel } }
  func leave(_ channel: any Channel) { guests.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(channel)) } }
  var count: Int { guests.withLock { $0.count } }
}

/// One guest's visit. A callback waits for the guest's farewell.
final class Visit {
  private let farewell: EventLoopPromise<Int>
  private var lines = 0

  init(on eventLoop: any EventLoop) { farewell = eventLoop.makePromise(of: Int.self) }

  func said() { lines += 1 }

  /// `isForgetting`: the fault. The promise is never completed, and its callback keeps the visit.
  func end(isForgetting: Bool) {
    farewell.futureResult.assumeIsolated().whenSuccess { self.lines -= $0 }
    if !isForgetting { farewell.succeed(lines) }
  }
}

final class RelayHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let room: Room
  private let isForgetting: Bool
  private var visit: Visit?

  init(room: Room, isForgetting: Bool) {
    self.room = room
    self.isForgetting = isForgetting
  }

  func channelActive(context: ChannelHandlerContext) {
    room.enter(context.channel)
    visit = Visit(on: context.eventLoop)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    visit?.said()
    context.writeAndFlush(data, promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    visit?.end(isForgetting: isForgetting)
    visit = nil
    room.leave(context.channel)
  }
}

/// Sends one line, waits for its echo and disconnects.
final class GuestHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  func channelActive(context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(string: "hello")), promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { context.close(promise: nil) }
}

@main struct ChatRelay {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 2, ["leak", "clean"].contains(arguments[1]) else { fatalError("usage: chat-relay leak|clean") }
    let isForgetting = arguments[1] == "leak"
    let room = Room()
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
    let server = try await ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 64)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(RelayHandler(room: room, isForgetting: isForgetting))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let address = server.localAddress!
    for _ in 0..<200 {
      let guest = try await ClientBootstrap(group: group)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(GuestHandler()) }
        }
        .connect(to: address).get()
      try await guest.closeFuture.get()
    }
    // Wait until the server has noticed the disconnections.
    while room.count > 0 { try await Task.sleep(for: .milliseconds(2)) }
    try await server.close()
    try await group.shutdownGracefully()
    print("guests left \(room.count)")
  }
}
