import Foundation

// Market data handler: keeps a time window of trades per venue and publishes VWAP and spread.

struct VenueSettings {
    let name: String
    let window: Int?

    /// Parses lines like "XSWX window=30s".
    init?(line: String) {
        let fields = line.split(separator: " ").map(String.init)
        guard let name = fields.first else { return nil }
        self.name = name
        var window: Int?
        for field in fields.dropFirst() where field.hasPrefix("window=") {
            let value = field.dropFirst("window=".count)
            if value.hasSuffix("s") { window = Int(value.dropLast()) }
        }
        self.window = window
    }
}

final class Trade {
    let time: Int
    let price: Double
    let volume: Double
    let side: Character

    init(time: Int, price: Double, volume: Double, side: Character) {
        self.time = time
        self.price = price
        self.volume = volume
        self.side = side
    }
}

final class TradeWindow {
    let settings: VenueSettings
    private var trades: [Trade] = []
    private var turnover = 0.0
    private var volume = 0.0

    init(settings: VenueSettings) { self.settings = settings }

    func add(time: Int, price: Double, volume size: Double, side: Character) {
        trades.append(Trade(time: time, price: price, volume: size, side: side))
        turnover += price * size
        volume += size
        guard let window = settings.window else { return }
        var old = 0
        while old < trades.count, trades[old].time <= time - window {
            turnover -= trades[old].price * trades[old].volume
            volume -= trades[old].volume
            old += 1
        }
        trades.removeFirst(old)
    }

    var vwap: Double { volume > 0 ? turnover / volume : 0 }

    /// Difference between the dearest buy and the cheapest sell of the last trades.
    var spread: Double {
        let last = trades.suffix(24)
        let buy = last.filter { $0.side == "B" }.map(\.price).max() ?? 0
        let sell = last.filter { $0.side == "S" }.map(\.price).min() ?? 0
        return abs(buy - sell)
    }
}

struct Walk {
    private var state: UInt64
    private(set) var price: Double

    init(seed: UInt64, price: Double) {
        state = seed
        self.price = price
    }

    mutating func step() -> (price: Double, volume: Double, side: Character) {
        state = state &* 2862933555777941757 &+ 3037000493
        let unit = Double(state >> 11) / Double(1 << 53)
        price *= 1 + (unit - 0.5) * 0.002
        return (price, 10 + (unit * 90).rounded(), state & (1 << 40) == 0 ? "B" : "S")
    }
}

let configuration = """
XSWX window=3s
XETR window=3s
XPAR window=4s
XAMS window=0.05m
XLON window=3s
XMIL window=2s
"""

let windows = configuration.split(separator: "\n").compactMap { VenueSettings(line: String($0)) }.map(TradeWindow.init)
var walks = windows.indices.map { Walk(seed: UInt64($0 + 3) &* 7_777_777, price: 90 + Double($0)) }
var arbitrage = 0

for second in 0..<180 {
    for (index, window) in windows.enumerated() {
        for _ in 0..<8 {
            let tick = walks[index].step()
            window.add(time: second, price: tick.price, volume: tick.volume, side: tick.side)
        }
    }
    let spreads = windows.map(\.spread)
    if let widest = spreads.max(), let narrowest = spreads.min(), widest > narrowest * 6 { arbitrage += 1 }
    if second % 60 == 59 {
        let line = windows.map { "\($0.settings.name) \(String(format: "%.2f", $0.vwap))" }.joined(separator: "  ")
        print("\(second + 1)s  \(line)")
    }
    usleep(5_500)
}
print("wide spreads: \(arbitrage)")
