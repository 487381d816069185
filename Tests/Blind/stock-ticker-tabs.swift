struct Quote {
    let symbol: String
    var cents: Int
}

@MainActor
final class Market {
    private var quotes: [String: Quote] = [:]
    private var seed: UInt32 = 17
    private(set) var requests = 0

    func price(of symbol: String) -> Int {
        requests += 1
        return quotes[symbol]?.cents ?? 0
    }

    func list(_ symbol: String) {
        quotes[symbol] = Quote(symbol: symbol, cents: 1000 + symbol.unicodeScalars.reduce(0) { $0 + Int($1.value) })
    }

    func tick() {
        for symbol in quotes.keys.sorted() {
            seed = seed &* 1664525 &+ 1013904223
            quotes[symbol]!.cents += Int(seed >> 28) - 7
        }
    }

    var total: Int { quotes.values.reduce(0) { $0 + $1.cents } }
}

@MainActor
final class TickerTab {
    let symbol: String
    private let market: Market
    private var isClosed = false
    private var points: [Int] = []

    init(symbol: String, market: Market) {
        self.symbol = symbol
        self.market = market
    }

    func start() {
        Task {
            while !isClosed {
                record(market.price(of: symbol))
                try? await Task.sleep(for: .milliseconds(12))
            }
        }
    }

    private func record(_ cents: Int) {
        points.append(cents)
        if points.count > 64 { points.removeFirst(32) }
    }

    func close() { isClosed = true }
}

@MainActor
struct TabBar {
    let market: Market
    var slots: [TickerTab?] = Array(repeating: nil, count: 6)
    var opened = 0

    mutating func open(_ symbol: String, in slot: Int) {
        let tab = TickerTab(symbol: symbol, market: market)
        tab.start()
        slots[slot] = tab
        opened += 1
    }

    mutating func close(_ slot: Int) {
        slots[slot]?.close()
        slots[slot] = nil
    }
}

@main
@MainActor
struct TickerApp {
    static let market = Market()
    static var bar = TabBar(market: market)

    static func main() async throws {
        let symbols = (0..<24).map { "SYM\($0)" }
        symbols.forEach(market.list)

        for slot in 0..<6 { bar.open(symbols[slot], in: slot) }
        for step in 0..<18 {
            let slot = step % 6
            if step % 5 != 2 || step == 17 {
                bar.close(slot)
            }
            bar.open(symbols[(step + 6) % 24], in: slot)
            market.tick()
            try await Task.sleep(for: .milliseconds(20))
        }
        for slot in [1, 4, 5] { bar.open(symbols[slot], in: slot) }
        bar.open("SYM23", in: 1)
        bar.close(0)

        for _ in 0..<25 {
            market.tick()
            try await Task.sleep(for: .milliseconds(20))
        }
        let showing = bar.slots.compactMap { $0?.symbol }
        print("opened \(bar.opened) tabs, showing \(showing), index \(market.total), polled: \(market.requests > 100)")
    }
}
