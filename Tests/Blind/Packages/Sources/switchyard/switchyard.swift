import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A borrowed connection; the borrower hands it back with `onReturn`.
final class Lease: @unchecked Sendable {
    let channel: Channel
    let borrowedAt = NIODeadline.now()
    var onReturn: (() -> Void)?
    var bytesSent = 0

    init(channel: Channel) { self.channel = channel }

    func send(_ text: String) -> EventLoopFuture<Void> {
        bytesSent += text.utf8.count
        return channel.writeAndFlush(channel.allocator.buffer(string: text))
    }
}

final class ConnectionPool: @unchecked Sendable {
    private let lock = NIOLock()
    private let address: SocketAddress
    private let group: EventLoopGroup
    private var idle: [Channel] = []
    private var open = 0
    private var bytes = 0

    init(address: SocketAddress, group: EventLoopGroup) {
        self.address = address
        self.group = group
    }

    func lease() -> EventLoopFuture<Lease> {
        if let channel = lock.withLock({ idle.popLast() }) {
            return channel.eventLoop.makeSucceededFuture(wrap(channel))
        }
        return ClientBootstrap(group: group)
            .channelInitializer { $0.pipeline.addHandler(ReplyReader()) }
            .connect(to: address)
            .map { channel in
                self.lock.withLock { self.open += 1 }
                return self.wrap(channel)
            }
    }

    private func wrap(_ channel: Channel) -> Lease {
        let lease = Lease(channel: channel)
        lease.onReturn = { self.take(back: lease) }
        return lease
    }

    private func take(back lease: Lease) {
        lock.withLock {
            bytes += lease.bytesSent
            if lease.channel.isActive { idle.append(lease.channel) }
        }
    }

    func close() throws {
        let channels = lock.withLock { () -> [Channel] in
            defer { idle.removeAll() }
            return idle
        }
        for channel in channels { try channel.close().wait() }
    }

    var report: String { lock.withLock { "\(open) connections, \(bytes) bytes" } }
}

final class ReplyReader: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    private(set) var received = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += unwrapInboundIn(data).readableBytes
    }
}

final class SignalBox: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.writeAndFlush(data, promise: nil)
    }
}

@main
struct Switchyard {
    static func main() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let server = try await ServerBootstrap(group: group)
            .childChannelInitializer { $0.pipeline.addHandler(SignalBox()) }
            .bind(host: "127.0.0.1", port: 0).get()
        let pool = ConnectionPool(address: server.localAddress!, group: group)

        try await withThrowingTaskGroup(of: Void.self) { trains in
            for train in 0..<5 {
                trains.addTask {
                    for wagon in 0..<110 {
                        let lease = try await pool.lease().get()
                        try await lease.send("train \(train) wagon \(wagon)\n").get()
                        if wagon % 10 == 9 { try await Task.sleep(for: .milliseconds(20)) }
                        lease.onReturn?()
                    }
                }
            }
            try await trains.waitForAll()
        }
        try await Task.sleep(for: .milliseconds(400))
        print(pool.report)
        try await Task.detached { try pool.close() }.value
        try await server.close()
        try await group.shutdownGracefully()
    }
}
