import Foundation
import NIOCore
import NIOPosix

enum EnvoyError: Error {
    case lostConnection
    case refused(String)
}

/// Sends lines and matches the answers in the order of the questions.
final class EnvoyHandler: ChannelDuplexHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = (String, EventLoopPromise<String>)
    typealias OutboundOut = ByteBuffer

    private var waiting: [EventLoopPromise<String>] = []
    private var rest = ByteBuffer()

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let (line, answer) = unwrapOutboundIn(data)
        guard context.channel.isActive else {
            answer.fail(EnvoyError.lostConnection)
            promise?.fail(EnvoyError.lostConnection)
            return
        }
        waiting.append(answer)
        context.write(wrapOutboundOut(ByteBuffer(string: line + "\n")), promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var part = unwrapInboundIn(data)
        rest.writeBuffer(&part)
        rest.discardReadBytes()
        while let end = rest.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) {
            let line = rest.readString(length: end - rest.readerIndex) ?? ""
            rest.moveReaderIndex(forwardBy: 1)
            guard !waiting.isEmpty else { continue }
            let answer = waiting.removeFirst()
            if line.hasPrefix("no") {
                answer.fail(EnvoyError.refused(line))
            } else {
                answer.succeed(line)
            }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        let unanswered = waiting
        waiting.removeAll()
        for answer in unanswered { answer.fail(EnvoyError.lostConnection) }
        context.fireChannelInactive()
    }
}

/// The court answers everything but petitions, which it thinks about for very long.
final class Court: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    private var partial = ""

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        partial += String(buffer: unwrapInboundIn(data))
        var lines = partial.split(separator: "\n", omittingEmptySubsequences: false)
        partial = String(lines.removeLast())
        var out = context.channel.allocator.buffer(capacity: 512)
        for line in lines where !line.hasPrefix("petition") {
            out.writeString(line.hasSuffix("7") ? "no, not \(line)\n" : "granted \(line)\n")
        }
        context.writeAndFlush(NIOAny(out), promise: nil)
    }
}

final class Envoy: Sendable {
    private let channel: Channel

    init(channel: Channel) { self.channel = channel }

    func ask(_ line: String) -> EventLoopFuture<String> {
        let answer = channel.eventLoop.makePromise(of: String.self)
        channel.writeAndFlush((line, answer), promise: nil)
        return answer.futureResult
    }

    /// Asks twice, and a third time more politely if it was refused.
    func negotiate(_ matter: String) -> EventLoopFuture<Int> {
        ask("request \(matter)")
            .flatMap { first in self.ask("details of \(matter)").map { first.count + $0.count } }
            .flatMapError { error in
                guard case EnvoyError.refused = error else {
                    return self.channel.eventLoop.makeFailedFuture(error)
                }
                return self.ask("please \(matter)!").map(\.count)
            }
    }

    func leave() -> EventLoopFuture<Void> { channel.close() }
}

@main
struct Embassy {
    static func main() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let server = try await ServerBootstrap(group: group)
            .childChannelInitializer { $0.pipeline.addHandler(Court()) }
            .bind(host: "127.0.0.1", port: 0).get()
        var granted = 0, unanswered = 0

        for visit in 0..<4 {
            let channel = try await ClientBootstrap(group: group)
                .channelInitializer { $0.pipeline.addHandler(EnvoyHandler()) }
                .connect(to: server.localAddress!).get()
            let envoy = Envoy(channel: channel)
            for round in 0..<10 {
                let talks = (0..<25).map { envoy.negotiate("matter \(visit * 250 + round * 25 + $0)") }
                let results = try await EventLoopFuture.whenAllComplete(talks, on: channel.eventLoop).get()
                granted += results.filter { (try? $0.get()) != nil }.count
            }
            let petitions = (0..<30).map { envoy.ask("petition \($0)") }
            try await Task.sleep(for: .milliseconds(150))
            try await envoy.leave().get()
            for petition in petitions where (try? await petition.get()) == nil { unanswered += 1 }
        }
        print("\(granted) granted, \(unanswered) petitions returned")
        try await server.close()
        try await group.shutdownGracefully()
    }
}
