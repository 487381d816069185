import Foundation
import NIOCore
import NIOExtras
import NIOPosix

struct Tick: Sendable {
    let symbol: String
    let cents: Int
}

/// Where a connected trader's ticks go; removed when the trader's session ends.
final class Feed: Sendable {
    let symbols: Set<String>
    let ticks: AsyncStream<Tick>
    let input: AsyncStream<Tick>.Continuation

    init(symbols: Set<String>) {
        self.symbols = symbols
        (ticks, input) = AsyncStream.makeStream(of: Tick.self, bufferingPolicy: .bufferingNewest(16))
    }
}

actor Exchange {
    private var feeds: [ObjectIdentifier: Feed] = [:]
    private var quotes: [String: Int]

    init(symbols: [String]) {
        quotes = Dictionary(uniqueKeysWithValues: symbols.enumerated().map { ($1, 1000 + 10 * $0) })
    }

    func attach(_ feed: Feed) { feeds[ObjectIdentifier(feed)] = feed }
    func detach(_ feed: Feed) {
        feeds.removeValue(forKey: ObjectIdentifier(feed))
        feed.input.finish()
    }

    func move(round: Int) {
        for (symbol, cents) in quotes {
            let tick = Tick(symbol: symbol, cents: cents + (round * 7) % 13 - 6)
            quotes[symbol] = tick.cents
            for feed in feeds.values where feed.symbols.contains(symbol) { feed.input.yield(tick) }
        }
    }

    var attached: Int { feeds.count }
}

typealias Session = NIOAsyncChannel<String, ByteBuffer>
typealias TraderLink = NIOAsyncChannel<ByteBuffer, ByteBuffer>

final class LineToString: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = String
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.fireChannelRead(wrapInboundOut(String(buffer: unwrapInboundIn(data))))
    }
}

func runSession(_ session: Session, exchange: Exchange) async throws {
    try await session.executeThenClose { inbound, outbound in
        var lines = inbound.makeAsyncIterator()
        guard let order = try await lines.next() else { return }
        let feed = Feed(symbols: Set(order.split(separator: ",").map(String.init)))
        await exchange.attach(feed)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await tick in feed.ticks {
                    try await outbound.write(ByteBuffer(string: "\(tick.symbol) \(tick.cents)\n"))
                }
            }
            do {
                while try await lines.next() != nil {}
            } catch {}
            await exchange.detach(feed)
            group.cancelAll()
            do { try await group.waitForAll() } catch {}
        }
    }
}

func trade(at address: SocketAddress, symbols: String, until quota: Int) async throws -> Int {
    let link: TraderLink = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connect(to: address) { channel in
            channel.eventLoop.makeCompletedFuture { try TraderLink(wrappingChannelSynchronously: channel) }
        }
    return try await link.executeThenClose { inbound, outbound in
        try await outbound.write(ByteBuffer(string: symbols + "\n"))
        var seen = 0
        for try await chunk in inbound {
            seen += chunk.readableBytesView.count { $0 == UInt8(ascii: "\n") }
            if seen >= quota { break }
        }
        return seen
    }
}

@main
struct TickerTape {
    static let exchange = Exchange(symbols: (0..<30).map { "SYM\($0)" })

    static func main() async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        ByteToMessageHandler(LineBasedFrameDecoder()), LineToString(),
                    ])
                    return try Session(wrappingChannelSynchronously: channel)
                }
            }
        let address = server.channel.localAddress!
        let desk = Task {
            try await withThrowingDiscardingTaskGroup { group in
                try await server.executeThenClose { sessions in
                    for try await session in sessions {
                        group.addTask { try? await runSession(session, exchange: exchange) }
                    }
                }
            }
        }
        let bell = Task {
            for round in 0... {
                await exchange.move(round: round)
                try await Task.sleep(for: .milliseconds(10))
            }
        }

        let dayTraders = (0..<70).map { number in
            Task { try await trade(at: address, symbols: "SYM\(number % 30),SYM\((number + 7) % 30)", until: 20) }
        }
        let investors = (0..<25).map { number in
            Task { try await trade(at: address, symbols: "SYM\(number),SYM\(number + 1)", until: .max) }
        }
        var ticks = 0
        for trader in dayTraders { ticks += (try? await trader.value) ?? 0 }
        try await Task.sleep(for: .milliseconds(600))
        print("at least \(ticks) ticks, \(await exchange.attached) investors connected")
        bell.cancel()
        desk.cancel()
        _ = await desk.result
        for investor in investors { _ = await investor.result }
    }
}
