import Dispatch
import Foundation
import Glibc
import NIOCore
import NIOExtras
import NIOPosix

/// A member on the square, who hears the words of all others.
final class Member {
    let number: Int
    let channel: Channel
    var nickname: String
    var spoken = 0

    init(number: Int, channel: Channel) {
        self.number = number
        self.channel = channel
        self.nickname = "guest-\(number)"
    }

    func hear(_ text: String) {
        guard channel.isActive else { return }
        channel.writeAndFlush(channel.allocator.buffer(string: text + "\n"), promise: nil)
    }
}

/// All members, touched on the room's own queue only.
final class Square: @unchecked Sendable {
    private let queue = DispatchQueue(label: "square")
    private var members: [Member] = []
    private var arrivals = 0

    func join(_ channel: Channel) -> Member {
        queue.sync {
            arrivals += 1
            let member = Member(number: arrivals, channel: channel)
            members.append(member)
            return member
        }
    }

    func say(_ text: String, from speaker: Member) {
        queue.sync {
            speaker.spoken += 1
            for member in members where member !== speaker {
                member.hear("\(speaker.nickname): \(text)")
            }
        }
    }

    func present() -> Int { queue.sync { members.filter { $0.channel.isActive }.count } }
}

final class ChatHandler: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer

    private let square: Square
    private var me: Member?

    init(square: Square) { self.square = square }

    func channelActive(context: ChannelHandlerContext) {
        me = square.join(context.channel)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let me else { return }
        let line = String(buffer: unwrapInboundIn(data)).trimmingCharacters(in: .whitespaces)
        if line.hasPrefix("/nick ") {
            me.nickname = String(line.dropFirst(6))
        } else if line == "/quit" {
            context.close(promise: nil)
        } else {
            square.say(line, from: me)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        me = nil
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: Error) { context.close(promise: nil) }
}

@main
struct TownSquare {
    static func main() throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let square = Square()
        let server = try ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        ByteToMessageHandler(LineBasedFrameDecoder()),
                        ChatHandler(square: square),
                    ])
                }
            }
            .bind(host: "127.0.0.1", port: 0).wait()

        signal(SIGINT, SIG_IGN)
        let stopped = DispatchSemaphore(value: 0)
        let interrupts = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        interrupts.setEventHandler { stopped.signal() }
        interrupts.resume()

        let address = server.localAddress!
        Thread.detachNewThread { visit(address, group: group) }
        stopped.wait()
        print("bell rings, \(square.present()) people on the square")
        try server.close().wait()
        interrupts.cancel()
        exit(0)
    }

    /// A busy day: short visits first, then twenty people who stay.
    static func visit(_ address: SocketAddress, group: EventLoopGroup) {
        let bootstrap = ClientBootstrap(group: group)
        func send(_ channel: Channel, _ text: String) {
            try? channel.writeAndFlush(channel.allocator.buffer(string: text + "\n")).wait()
        }
        for number in 0..<180 {
            guard let channel = try? bootstrap.connect(to: address).wait() else { continue }
            send(channel, "/nick visitor\(number)")
            send(channel, "good day")
            send(channel, "/quit")
            try? channel.closeFuture.wait()
        }
        for number in 0..<20 {
            guard let channel = try? bootstrap.connect(to: address).wait() else { continue }
            send(channel, "/nick regular\(number)")
            send(channel, "I will stay a while")
        }
        usleep(700_000)
        kill(getpid(), SIGINT)
    }
}
