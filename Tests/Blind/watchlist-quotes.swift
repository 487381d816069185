import Foundation

struct Quote {
    let symbol: String
    let price: Double
}

final class QuoteHub: @unchecked Sendable {
    private let lock = NSLock()
    private var feeds: [(id: Int, symbol: String, out: AsyncStream<Quote>.Continuation)] = []
    private var nextID = 0

    func quotes(_ symbol: String) -> AsyncStream<Quote> {
        let (stream, out) = AsyncStream<Quote>.makeStream(bufferingPolicy: .bufferingNewest(2))
        let id = lock.withLock {
            nextID += 1
            feeds.append((nextID, symbol, out))
            return nextID
        }
        out.onTermination = { [weak self] _ in self?.drop(id) }
        return stream
    }

    private func drop(_ id: Int) {
        lock.withLock { feeds.removeAll { $0.id == id } }
    }

    func publish(_ round: Int) {
        let snapshot = lock.withLock { feeds }
        for feed in snapshot {
            let base = feed.symbol.unicodeScalars.reduce(0) { $0 + Int($1.value) }
            feed.out.yield(Quote(symbol: feed.symbol, price: Double(base + round) / 4))
        }
    }

    var count: Int { lock.withLock { feeds.count } }
}

final class WatchRow: @unchecked Sendable {
    let symbol: String
    private let lock = NSLock()
    private var price: Double?
    private var history: [Double] = []
    private var follower: Task<Void, Never>?

    init(symbol: String, hub: QuoteHub) {
        self.symbol = symbol
        let quotes = hub.quotes(symbol)
        follower = Task {
            for await quote in quotes {
                self.update(quote)
            }
        }
    }

    private func update(_ quote: Quote) {
        lock.withLock {
            price = quote.price
            history.append(quote.price)
        }
    }

    func hide() {
        follower?.cancel()
        follower = nil
    }

    var current: Double? { lock.withLock { price } }
}

final class Watchlist {
    private let hub: QuoteHub
    private let symbols: [String]
    private(set) var rows: [WatchRow] = []
    private var top = 0

    init(hub: QuoteHub, symbols: [String], visible: Int) {
        self.hub = hub
        self.symbols = symbols
        rows = symbols.prefix(visible).map { WatchRow(symbol: $0, hub: hub) }
    }

    func scroll(by count: Int) {
        let visible = rows.count
        for row in rows.prefix(count) {
            row.hide()
        }
        rows.removeFirst(count)
        top += count
        for symbol in symbols[(top + visible - count)..<(top + visible)] {
            rows.append(WatchRow(symbol: symbol, hub: hub))
        }
    }

    var isFilled: Bool { rows.allSatisfy { $0.current != nil } }
    var average: Double { rows.compactMap(\.current).reduce(0, +) / Double(rows.count) }
}

let letters = Array("ABCDEFGH")
let symbols = (0..<160).map { n in
    String([letters[n % 8], letters[n / 8 % 8], letters[n / 64]]) + "\(n)"
}
let hub = QuoteHub()
let list = Watchlist(hub: hub, symbols: symbols, visible: 100)

for round in 0..<5 {
    if round > 0 { list.scroll(by: 15) }
    hub.publish(round)
    while !list.isFilled {
        try? await Task.sleep(for: .milliseconds(1))
    }
}
while hub.count > list.rows.count {
    try? await Task.sleep(for: .milliseconds(1))
}
hub.publish(9)
try? await Task.sleep(for: .milliseconds(10))
print("rows \(list.rows.count), feeds \(hub.count)")
print("first \(list.rows.first!.symbol), last \(list.rows.last!.symbol), filled \(list.average > 0)")
