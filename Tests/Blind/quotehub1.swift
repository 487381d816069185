import Foundation

struct Quote: Sendable {
    let symbol: String
    let cents: Int
}

actor QuoteHub {
    private var sinks: [Int: AsyncStream<Quote>.Continuation] = [:]
    private var nextID = 0
    private(set) var published = 0

    func quotes() -> AsyncStream<Quote> {
        let id = nextID
        nextID += 1
        let (stream, continuation) = AsyncStream.makeStream(of: Quote.self, bufferingPolicy: .bufferingNewest(32))
        continuation.onTermination = { _ in
            Task { await self.drop(id) }
        }
        sinks[id] = continuation
        return stream
    }

    private func drop(_ id: Int) {
        sinks[id] = nil
    }

    func publish(_ quote: Quote) {
        published += 1
        for sink in sinks.values {
            sink.yield(quote)
        }
    }

    var subscriberCount: Int { sinks.count }
}

final class Watchlist: @unchecked Sendable {
    let client: String
    private let symbols: Set<String>
    private let lock = NSLock()
    private var last: [String: Int] = [:]
    private var feed: Task<Void, Never>?

    init(client: String, symbols: Set<String>) {
        self.client = client
        self.symbols = symbols
    }

    func attach(to hub: QuoteHub) async {
        let stream = await hub.quotes()
        feed = Task {
            for await quote in stream where self.symbols.contains(quote.symbol) {
                self.apply(quote)
            }
        }
    }

    func detach() {
        feed?.cancel()
        feed = nil
    }

    private func apply(_ quote: Quote) {
        lock.withLock { last[quote.symbol] = quote.cents }
    }
}

@MainActor
final class TradingDesk {
    private let hub: QuoteHub
    private var lists: [String: Watchlist] = [:]

    init(hub: QuoteHub) {
        self.hub = hub
    }

    func connect(_ client: String, symbols: Set<String>) async {
        let list = Watchlist(client: client, symbols: symbols)
        lists[client] = list
        await list.attach(to: hub)
    }

    func disconnect(_ client: String) {
        lists.removeValue(forKey: client)?.detach()
    }

    func closeSession() {
        for client in Array(lists.keys) {
            disconnect(client)
        }
    }
}

@main
struct MarketData {
    static func main() async throws {
        let hub = QuoteHub()
        let desk = TradingDesk(hub: hub)
        let universe = ["ABB", "BMW", "CFR", "DTE", "ENI", "FRE"]

        for n in 0..<12 {
            await desk.connect("desk-\(n)", symbols: [universe[n % 6], universe[(n + 2) % 6]])
        }
        for session in 0..<5 {
            for n in 0..<6 {
                await desk.connect("web-\(session)-\(n)", symbols: [universe[n], universe[(n + session) % 6]])
            }
            for tick in 0..<120 {
                await hub.publish(Quote(symbol: universe[tick % 6], cents: 10_000 + (tick * 37) % 900))
                if tick % 30 == 0 { try await Task.sleep(for: .milliseconds(20)) }
            }
            for n in 0..<6 {
                desk.disconnect("web-\(session)-\(n)")
            }
            try await Task.sleep(for: .milliseconds(60))
        }
        let during = await hub.subscriberCount
        desk.closeSession()
        try await Task.sleep(for: .milliseconds(200))
        print("published \(await hub.published), desks \(during), after close \(await hub.subscriberCount)")
    }
}
