import DequeModule
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

struct Frame {
    var id: UInt32
    var body: String
}

/// id, length, bytes
struct FrameDecoder: ByteToMessageDecoder {
    typealias InboundOut = Frame

    mutating func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
        guard let id: UInt32 = buffer.getInteger(at: buffer.readerIndex),
            let length: UInt32 = buffer.getInteger(at: buffer.readerIndex + 4),
            buffer.readableBytes >= 8 + Int(length)
        else { return .needMoreData }
        buffer.moveReaderIndex(forwardBy: 8)
        let body = buffer.readString(length: Int(length)) ?? ""
        context.fireChannelRead(wrapInboundOut(Frame(id: id, body: body)))
        return .continue
    }
}

struct FrameEncoder: MessageToByteEncoder {
    func encode(data: Frame, out: inout ByteBuffer) throws {
        out.writeInteger(data.id)
        out.writeInteger(UInt32(data.body.utf8.count))
        out.writeString(data.body)
    }
}

struct LineDown: Error {}

/// Many calls over one connection; answers come back in any order.
final class Multiplexer: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = Frame
    typealias OutboundOut = Frame

    private var context: ChannelHandlerContext?
    private var pending: [UInt32: EventLoopPromise<String>] = [:]
    private var nextID: UInt32 = 0

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func call(_ body: String) -> EventLoopFuture<String>? {
        guard let context, context.channel.isActive else { return nil }
        nextID += 1
        let promise = context.eventLoop.makePromise(of: String.self)
        pending[nextID] = promise
        context.writeAndFlush(wrapOutboundOut(Frame(id: nextID, body: body)), promise: nil)
        return promise.futureResult
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        pending.removeValue(forKey: frame.id)?.succeed(frame.body)
    }

    func channelInactive(context: ChannelHandlerContext) {
        let waiting = pending
        pending = [:]
        for promise in waiting.values { promise.fail(LineDown()) }
        context.fireChannelInactive()
    }
}

/// Answers in batches, newest first, and never answers "hold".
final class Station: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = Frame
    typealias OutboundOut = Frame
    private var backlog = Deque<Frame>()

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        if frame.body != "hold" { backlog.append(frame) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        while let frame = backlog.popLast() {
            context.write(wrapOutboundOut(Frame(id: frame.id, body: "ack " + frame.body)), promise: nil)
        }
        context.flush()
    }
}

func makePipeline(_ channel: Channel, last: ChannelHandler & Sendable) -> EventLoopFuture<Void> {
    channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandlers([
            ByteToMessageHandler(FrameDecoder()), MessageToByteHandler(FrameEncoder()), last,
        ])
    }
}

@main
struct RelayStation {
    static func main() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let server = try await ServerBootstrap(group: group)
            .childChannelInitializer { makePipeline($0, last: Station()) }
            .bind(host: "127.0.0.1", port: 0).get()
        let line = Multiplexer()
        let channel = try await ClientBootstrap(group: group)
            .channelInitializer { makePipeline($0, last: line) }
            .connect(to: server.localAddress!).get()

        @Sendable func call(_ body: String) async throws -> String {
            try await channel.eventLoop.flatSubmit {
                line.call(body) ?? channel.eventLoop.makeFailedFuture(LineDown())
            }.get()
        }

        let answered = try await withThrowingTaskGroup(of: Int.self) { posts in
            for post in 0..<8 {
                posts.addTask {
                    var count = 0
                    for message in 0..<200 where try await call("post \(post) message \(message)").hasPrefix("ack") {
                        count += 1
                    }
                    return count
                }
            }
            return try await posts.reduce(0, +)
        }
        let held = (0..<20).map { _ in Task { (try? await call("hold")) == nil } }
        try await Task.sleep(for: .milliseconds(700))
        try await channel.close()
        var failed = 0
        for call in held where await call.value { failed += 1 }
        print("\(answered) answered, \(failed) cut off")
        try await server.close()
        try await group.shutdownGracefully()
    }
}
