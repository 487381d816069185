import Dispatch
import Foundation
import NIOCore
import NIOExtras
import NIOPosix

/// One lookup for one client; may be given up when the client goes away.
final class Lookup {
    let name: String
    private let promise: EventLoopPromise<String>
    private var finished = false

    init(name: String, on loop: any EventLoop) {
        self.name = name
        promise = loop.makePromise(of: String.self)
    }

    var result: EventLoopFuture<String> { promise.futureResult }

    func finish(_ address: String) {
        guard !finished else { return }
        finished = true
        promise.succeed(address)
    }

    func giveUp() {
        guard !finished else { return }
        finished = true
        promise.fail(ChannelError.ioOnClosedChannel)
    }
}

/// Answers from a table after a short wait, as a network of name servers would.
final class Resolver: Sendable {
    private let table: [String: String]

    init(hosts: Int) {
        table = Dictionary(uniqueKeysWithValues: (0..<hosts).map { ("host\($0)", "10.0.\($0 / 250).\($0 % 250)") })
    }

    func start(_ lookup: NIOLoopBound<Lookup>, name: String, on loop: any EventLoop) {
        let address = table[name] ?? "unknown"
        loop.scheduleTask(in: .microseconds(300)) { lookup.value.finish(address) }
    }
}

final class QueryHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let resolver: Resolver

    init(resolver: Resolver) { self.resolver = resolver }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let name = String(buffer: unwrapInboundIn(data))
        let loop = context.eventLoop
        let lookup = Lookup(name: name, on: loop)
        let bound = NIOLoopBound(lookup, eventLoop: loop)
        context.channel.closeFuture.whenComplete { _ in
            bound.value.giveUp()
        }
        let channel = context.channel
        lookup.result.whenSuccess { address in
            channel.writeAndFlush(ByteBuffer(string: "\(name) \(address)\n"), promise: nil)
        }
        resolver.start(bound, name: name, on: loop)
    }
}

/// A proxy of ours: sends one question after the other on the same connection.
final class QuestionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private var left: Int
    private let seed: Int
    private let done: EventLoopPromise<Void>

    init(questions: Int, seed: Int, done: EventLoopPromise<Void>) {
        left = questions
        self.seed = seed
        self.done = done
    }

    func channelActive(context: ChannelHandlerContext) { ask(context) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        left == 0 ? done.succeed(()) : ask(context)
    }

    private func ask(_ context: ChannelHandlerContext) {
        left -= 1
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "host\((left * 13 + seed) % 600)\n")), promise: nil)
    }
}

@main
struct LookupServer {
    static let terminations = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())

    static func main() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let resolver = Resolver(hosts: 500)
        let server = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        ByteToMessageHandler(LineBasedFrameDecoder()), QueryHandler(resolver: resolver))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        signal(SIGTERM, SIG_IGN)
        terminations.setEventHandler {
            print("stopped")
            exit(0)
        }
        terminations.resume()
        print("ready")
        let port = server.localAddress!.port!
        func proxy(_ seed: Int, questions: Int) async throws -> any Channel {
            let done = group.next().makePromise(of: Void.self)
            let channel = try await ClientBootstrap(group: group)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandlers(
                            ByteToMessageHandler(LineBasedFrameDecoder()),
                            QuestionHandler(questions: questions, seed: seed, done: done))
                    }
                }
                .connect(host: "127.0.0.1", port: port).get()
            try await done.futureResult.get()
            return channel
        }
        var proxies: [any Channel] = []
        for number in 0..<8 { proxies.append(try await proxy(number, questions: 100)) }
        for number in 0..<30 { try await proxy(number, questions: 5).close() }
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 0.7)
            kill(getpid(), SIGTERM)
        }
        try await Task.sleep(for: .seconds(10))
        for proxy in proxies { try await proxy.close() }
    }
}
