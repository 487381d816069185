import Dispatch
import Foundation
import NIOCore
import NIOExtras
import NIOPosix

/// One room, one event loop: everything below runs on that loop.
final class Room {
    private var guests: [ObjectIdentifier: GuestHandler] = [:]
    private(set) var visits = 0

    func enter(_ guest: GuestHandler) {
        visits += 1
        guests[ObjectIdentifier(guest)] = guest
        say("* \(guest.nickname) comes in", from: guest)
    }

    func exit(_ guest: GuestHandler) {
        guests[ObjectIdentifier(guest)] = nil
        say("* \(guest.nickname) goes", from: guest)
    }

    func say(_ text: String, from sender: GuestHandler) {
        for guest in guests.values where guest !== sender { guest.deliver(text) }
    }

    var population: Int { guests.count }
}

final class GuestHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let room: Room
    private var context: ChannelHandlerContext?
    private(set) var nickname = "someone"
    private var lines = 0

    init(room: Room) { self.room = room }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func channelActive(context: ChannelHandlerContext) {
        nickname = "guest\(context.remoteAddress?.port ?? 0)"
        room.enter(self)
        deliver("welcome \(nickname)")
    }

    func channelInactive(context: ChannelHandlerContext) {
        room.exit(self)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let line = String(buffer: unwrapInboundIn(data))
        lines += 1
        if line == "/quit" {
            context.close(promise: nil)
        } else if line.hasPrefix("/nick ") {
            nickname = String(line.dropFirst(6))
            deliver("you are \(nickname)")
        } else {
            room.say("\(nickname): \(line)", from: self)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func deliver(_ text: String) {
        guard let context else { return }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text + "\n")), promise: nil)
    }
}

/// Clients only count messages.
final class ListenerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private var bytes = 0
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        bytes += unwrapInboundIn(data).readableBytes
    }
}

@main
struct Parlor {
    static let interrupts = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())

    static func main() async throws {
        let serverLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let clientLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let room = NIOLoopBoundBox.makeBoxSendingValue(Room(), eventLoop: serverLoop.next())

        let server = try await ServerBootstrap(group: serverLoop)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        ByteToMessageHandler(LineBasedFrameDecoder()),
                        GuestHandler(room: room.value)
                    )
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()

        signal(SIGINT, SIG_IGN)
        interrupts.setEventHandler {
            server.eventLoop.execute {
                print("closing with \(room.value.population) guests after \(room.value.visits) visits")
                exit(0)
            }
        }
        interrupts.resume()
        print("ready")

        let client = ClientBootstrap(group: clientLoop).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(ListenerHandler())
            }
        }
        let port = server.localAddress!.port!
        var regulars: [any Channel] = []
        for index in 0..<40 {
            let channel = try await client.connect(host: "127.0.0.1", port: port).get()
            try await channel.writeAndFlush(ByteBuffer(string: "/nick regular\(index)\n"))
            regulars.append(channel)
        }
        for index in 0..<110 {
            let visitor = try await client.connect(host: "127.0.0.1", port: port).get()
            try await visitor.writeAndFlush(ByteBuffer(string: "hello number \(index)\n"))
            if index % 2 == 0 {
                try await visitor.writeAndFlush(ByteBuffer(string: "/quit\n"))
                try await visitor.closeFuture.get()
            } else {
                try await visitor.close()
            }
            try await regulars[index % 40].writeAndFlush(ByteBuffer(string: "good evening\n"))
        }
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 0.4)
            kill(getpid(), SIGINT)
        }
        while true {
            try await Task.sleep(for: .milliseconds(50))
            for regular in regulars { try await regular.writeAndFlush(ByteBuffer(string: "still here\n")) }
        }
    }
}
