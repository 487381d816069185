import Foundation

struct Quote: Sendable {
    let symbol: Int
    let price: Int
    let time: Int
}

final class Client: @unchecked Sendable {
    let id: Int
    let symbols: Set<Int>
    private let lock = NSLock()
    private var received = 0
    private var best: [Int: Int] = [:]

    init(id: Int, symbols: Set<Int>) {
        self.id = id
        self.symbols = symbols
    }

    func consume(_ q: Quote) {
        lock.withLock {
            received += 1
            best[q.symbol] = max(best[q.symbol] ?? 0, q.price)
        }
    }

    var count: Int { lock.withLock { received } }
}

actor Ticker {
    private struct Subscriber {
        let symbols: Set<Int>
        let continuation: AsyncStream<Quote>.Continuation
        var strikes = 0
    }

    private var subscribers: [Int: Subscriber] = [:]
    private var prices: [Int]
    private var time = 0
    private(set) var published = 0
    private(set) var kicked = 0

    init(symbols: Int) { prices = (0..<symbols).map { 1000 + $0 * 10 } }

    func subscribe(_ c: Client) -> AsyncStream<Quote> {
        let (stream, continuation) = AsyncStream<Quote>.makeStream(bufferingPolicy: .bufferingNewest(16))
        subscribers[c.id] = Subscriber(symbols: c.symbols, continuation: continuation)
        return stream
    }

    func unsubscribe(_ id: Int) {
        subscribers.removeValue(forKey: id)?.continuation.finish()
    }

    private func kick(_ id: Int) {
        subscribers[id] = nil
        kicked += 1
    }

    func publish() {
        time += 1
        for s in prices.indices {
            prices[s] = max(1, prices[s] + (time * 7 + s * 3) % 11 - 5)
            let q = Quote(symbol: s, price: prices[s], time: time)
            for (id, sub) in subscribers where sub.symbols.contains(s) {
                if case .dropped = sub.continuation.yield(q) {
                    subscribers[id]!.strikes += 1
                }
            }
            published += 1
        }
        for (id, sub) in subscribers where sub.strikes > 20 { kick(id) }
    }

    func closeAll() {
        for s in subscribers.values { s.continuation.finish() }
        subscribers.removeAll()
    }

    var listening: Int { subscribers.count }
    func contains(_ id: Int) -> Bool { subscribers[id] != nil }
}

actor Totals {
    private(set) var quotes = 0
    private(set) var finished = 0
    func add(_ c: Client) {
        quotes += c.count
        finished += 1
    }
}

final class Broker: Sendable {
    private let ticker: Ticker
    private let totals: Totals

    init(ticker: Ticker, totals: Totals) {
        self.ticker = ticker
        self.totals = totals
    }

    func connect(_ id: Int) async {
        let client = Client(id: id, symbols: Set((0..<4).map { ($0 * 5 + id) % 20 }))
        let stream = await ticker.subscribe(client)
        let pause: UInt64 = id % 13 == 6 ? 25_000_000 : 100_000
        let totals = self.totals
        Task {
            for await q in stream {
                client.consume(q)
                try? await Task.sleep(nanoseconds: pause)
            }
            await totals.add(client)
        }
    }

    func disconnect(_ id: Int) async {
        await ticker.unsubscribe(id)
    }
}

func session() async {
    let ticker = Ticker(symbols: 20)
    let totals = Totals()
    let broker = Broker(ticker: ticker, totals: totals)
    var opened = 0
    for round in 0..<480 {
        if round % 2 == 0 {
            opened += 1
            await broker.connect(opened)
        }
        if opened > 30 && round % 2 == 1 { await broker.disconnect(opened - 30) }
        await ticker.publish()
        try? await Task.sleep(nanoseconds: 4_500_000)
    }
    let stillThere = await ticker.listening
    await ticker.closeAll()
    try? await Task.sleep(nanoseconds: 550_000_000)
    print("clients \(opened) finished \(await totals.finished) listening \(stillThere) kicked \(await ticker.kicked)")
    print("quotes published \(await ticker.published) consumed \(await totals.quotes)")
}

await session()
