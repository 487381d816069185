import Foundation

final class PriceFeed {
    let symbol: String
    private(set) var history: [Double] = []
    private var task: Task<Void, Never>?
    private let lock = NSLock()

    init(symbol: String) {
        self.symbol = symbol
    }

    func start() {
        task = Task {
            while !Task.isCancelled {
                self.poll()
                try? await Task.sleep(nanoseconds: 25_000_000)
            }
        }
    }

    private func poll() {
        lock.withLock {
            let base = Double(symbol.utf8.reduce(0) { $0 + Int($1) })
            history.append(base + Double(history.count) * 0.25)
            if history.count > 64 { history.removeFirst() }
        }
    }

    var last: Double {
        lock.withLock { history.last ?? 0 }
    }

    func stop() {
        task?.cancel()
        task = nil
    }
}

final class Dashboard {
    private var tiles: [String: PriceFeed] = [:]
    private(set) var total = 0.0

    func open(_ symbol: String, slot: String) {
        let feed = PriceFeed(symbol: symbol)
        feed.start()
        tiles[slot] = feed
    }

    /// The user types another symbol into a tile.
    func swap(slot: String, to symbol: String) {
        let feed = PriceFeed(symbol: symbol)
        feed.start()
        tiles[slot] = feed
    }

    func close(slot: String) {
        guard let feed = tiles.removeValue(forKey: slot) else { return }
        total += feed.last
        feed.stop()
    }

    func closeAll() {
        for slot in tiles.keys.sorted() { close(slot: slot) }
    }
}

@main
struct TickerApp {
    static func main() async throws {
        let dashboard = Dashboard()
        let symbols = ["AAPL", "MSFT", "NVDA", "AMZN", "SAP", "ASML", "TSM", "ARM"]
        for round in 0..<4 {
            for (i, symbol) in symbols.enumerated() {
                dashboard.open(symbol, slot: "tile\(i)")
            }
            try await Task.sleep(nanoseconds: 60_000_000)
            dashboard.swap(slot: "tile\(round)", to: "INTC")
            dashboard.swap(slot: "tile\(round + 1)", to: "QCOM")
            try await Task.sleep(nanoseconds: 60_000_000)
            dashboard.closeAll()
        }
        try await Task.sleep(nanoseconds: 200_000_000)
        print("ticker done", dashboard.total > 0)
    }
}
