import Foundation
import Glibc
import Hummingbird
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// A reader that waits for the next edition of a paper.
final class Subscription: @unchecked Sendable {
    let id = UUID()
    let reader: String
    let paper: String
    private let lock = NSLock()
    private var mailbox: [Int] = []

    init(reader: String, paper: String) {
        self.reader = reader
        self.paper = paper
    }

    func deliver(_ edition: Int) {
        lock.withLock {
            mailbox.append(edition)
            if mailbox.count > 4 { mailbox.removeFirst() }
        }
    }

    func latest() -> Int? { lock.withLock { mailbox.last } }
}

actor DeliveryDesk {
    private var subscriptions: [UUID: Subscription] = [:]
    private var edition = 0

    func subscribe(reader: String, paper: String) -> Subscription {
        let subscription = Subscription(reader: reader, paper: paper)
        subscription.deliver(edition)
        subscriptions[subscription.id] = subscription
        return subscription
    }

    func cancel(_ id: UUID) {
        subscriptions.removeValue(forKey: id)
    }

    func publish() {
        edition += 1
        for subscription in subscriptions.values { subscription.deliver(edition) }
    }
}

/// Prints one edition every 25 ms for as long as the server is up.
struct Press: Service {
    let desk: DeliveryDesk

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await desk.publish()
                try await Task.sleep(for: .milliseconds(25))
            }
        }
    }
}

final class ReplyCounter: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let name: String
    private var left: Int

    init(name: String, requests: Int) {
        self.name = name
        self.left = requests
    }

    func channelActive(context: ChannelHandlerContext) { ask(context) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if left > 0 { ask(context) }
    }

    private func ask(_ context: ChannelHandlerContext) {
        left -= 1
        let text = "GET /next/\(name) HTTP/1.1\r\nHost: paperboy\r\n\r\n"
        context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(string: text)), promise: nil)
    }
}

@main
struct Paperboy {
    static let desk = DeliveryDesk()
    static let houses = 40
    static let requestsPerHouse = 10

    static func main() async throws {
        let router = Router()
        router.get("next/:reader") { request, context -> String in
            let reader = try context.parameters.require("reader")
            let paper = request.uri.queryParameters.get("paper") ?? "Morning Post"
            let subscription = await desk.subscribe(reader: reader, paper: paper)
            var waited = 0
            while subscription.latest() == nil, waited < 40 {
                waited += 1
                try await Task.sleep(for: .milliseconds(5))
            }
            guard let edition = subscription.latest() else {
                await desk.cancel(subscription.id)
                throw HTTPError(.requestTimeout)
            }
            return "\(paper) no. \(edition) for \(reader)"
        }

        var logger = Logger(label: "paperboy")
        logger.logLevel = .critical
        let app = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            services: [Press(desk: desk)],
            onServerRunning: { channel in
                print("ready")
                let address = channel.localAddress!
                Task { await openStreet(address) }
            },
            logger: logger
        )
        try await app.runService()
        print("closed")
    }

    static func openStreet(_ address: SocketAddress) async {
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        for house in 0..<houses {
            _ = try? await bootstrap
                .channelInitializer { channel in
                    channel.pipeline.addHandler(ReplyCounter(name: "house-\(house)", requests: requestsPerHouse))
                }
                .connect(to: address).get()
        }
        try? await Task.sleep(for: .milliseconds(900))
        Thread.detachNewThread { kill(getpid(), SIGTERM) }
    }
}
