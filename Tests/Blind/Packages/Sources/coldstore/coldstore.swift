import Dispatch
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOExtras
import NIOPosix

/// The storage node answers "GET key" and "PUT key value" lines.
final class NodeHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private var values: [String: String] = [:]

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let words = String(buffer: unwrapInboundIn(data)).split(separator: " ").map(String.init)
        var answer = "NONE"
        if words.count == 3, words[0] == "PUT" {
            values[words[1]] = words[2]
            answer = "OK"
        } else if words.count == 2, let value = values[words[1]] {
            answer = value
        }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer + "\n")), promise: nil)
    }
}

final class AnswerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private var waiting = CircularBuffer<EventLoopPromise<String>>()

    func expect(_ promise: EventLoopPromise<String>) { waiting.append(promise) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        waiting.popFirst()?.succeed(String(buffer: unwrapInboundIn(data)))
    }

    func channelInactive(context: ChannelHandlerContext) {
        while let promise = waiting.popFirst() { promise.fail(ChannelError.ioOnClosedChannel) }
    }
}

final class StoreConnection: @unchecked Sendable {
    let channel: any Channel
    private let handler: NIOLoopBound<AnswerHandler>
    var uses = 0
    var whenDone: (() -> Void)?

    init(channel: any Channel, handler: NIOLoopBound<AnswerHandler>) {
        self.channel = channel
        self.handler = handler
    }

    func send(_ command: String) async throws -> String {
        uses += 1
        let promise = channel.eventLoop.makePromise(of: String.self)
        channel.eventLoop.execute { [handler, channel] in
            handler.value.expect(promise)
            channel.writeAndFlush(ByteBuffer(string: command + "\n"), promise: nil)
        }
        return try await promise.futureResult.get()
    }

    func done() { whenDone?() }
}

/// A connection serves ten commands, then a fresh one takes its place.
final class ShardPool: @unchecked Sendable {
    private let lock = NIOLock()
    private var idle: [StoreConnection] = []
    private let bootstrap: ClientBootstrap
    private let port: Int
    private var retired = 0

    init(group: any EventLoopGroup, port: Int) {
        bootstrap = ClientBootstrap(group: group)
        self.port = port
    }

    func lease() async throws -> StoreConnection {
        if let connection = lock.withLock({ idle.popLast() }) { return connection }
        let connection = try await bootstrap.connect(host: "127.0.0.1", port: port) { channel in
            channel.eventLoop.makeCompletedFuture {
                let handler = AnswerHandler()
                try channel.pipeline.syncOperations.addHandlers(ByteToMessageHandler(LineBasedFrameDecoder()), handler)
                return StoreConnection(channel: channel, handler: NIOLoopBound(handler, eventLoop: channel.eventLoop))
            }
        }
        connection.whenDone = { [weak self] in self?.takeBack(connection) }
        return connection
    }

    private func takeBack(_ connection: StoreConnection) {
        if connection.uses < 10 {
            lock.withLock { idle.append(connection) }
        } else {
            lock.withLock { retired += 1 }
            connection.channel.close(promise: nil)
        }
    }

    func command(_ text: String) async throws -> String {
        let connection = try await lease()
        defer { connection.done() }
        return try await connection.send(text)
    }

    var retiredCount: Int { lock.withLock { retired } }
}

@main
struct ColdStore {
    static let terminations = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())

    static func main() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let node = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(ByteToMessageHandler(LineBasedFrameDecoder()), NodeHandler())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = node.localAddress!.port!
        let shards = (0..<4).map { _ in ShardPool(group: group, port: port) }

        signal(SIGTERM, SIG_IGN)
        terminations.setEventHandler {
            print("retired \(shards.map(\.retiredCount))")
            exit(0)
        }
        terminations.resume()
        print("ready")

        try await withThrowingTaskGroup(of: Void.self) { workers in
            for (number, shard) in shards.enumerated() {
                workers.addTask {
                    for index in 0..<162 {
                        _ = try await shard.command(index % 3 == 0 ? "PUT k\(index) v\(number)" : "GET k\(index - index % 3)")
                    }
                }
            }
            try await workers.waitForAll()
        }
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 0.5)
            kill(getpid(), SIGTERM)
        }
        try await Task.sleep(for: .seconds(10))
        try await node.close()
    }
}
