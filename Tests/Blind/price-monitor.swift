import Foundation

// Price monitor: loads the instrument master at start, then watches ticks of a few exchanges.

final class Instrument {
    let symbol: String
    let lot: Int
    let tickSize: Double
    let limits: ClosedRange<Double>

    init?(row: Substring) {
        let columns = row.split(separator: ",")
        guard columns.count == 5, let lot = Int(columns[1]), let tick = Double(columns[2]),
              let low = Double(columns[3]), let high = Double(columns[4]), low <= high else { return nil }
        symbol = String(columns[0])
        self.lot = lot
        tickSize = tick
        limits = low...high
    }
}

final class InstrumentMaster {
    private var table: [String: Instrument] = [:]

    init(csv: String) {
        for row in csv.split(separator: "\n") {
            if let instrument = Instrument(row: row) { table[instrument.symbol] = instrument }
        }
    }

    subscript(symbol: String) -> Instrument? { table[symbol] }
    var count: Int { table.count }
}

final class Tick {
    let time: Int
    let instrument: Instrument
    let price: Double

    init(time: Int, instrument: Instrument, price: Double) {
        self.time = time
        self.instrument = instrument
        self.price = price
    }

    var isOutside: Bool { !instrument.limits.contains(price) }
}

final class ExchangeWatch {
    let code: String
    private let span: Int
    private var recent: [Tick] = []
    private var head = 0
    private(set) var breaches = 0

    init(code: String, span: Int) {
        self.code = code
        self.span = span
    }

    func observe(_ tick: Tick) {
        recent.append(tick)
        while recent[head].time < tick.time - span { head += 1 }
        if head > 64 {
            recent.removeFirst(head)
            head = 0
        }
        if tick.isOutside { breaches += 1 }
    }

    /// Largest relative move of one symbol inside the window.
    func volatility() -> Double {
        var extremes: [String: (low: Double, high: Double)] = [:]
        for tick in recent[head...] {
            let seen = extremes[tick.instrument.symbol] ?? (tick.price, tick.price)
            extremes[tick.instrument.symbol] = (min(seen.low, tick.price), max(seen.high, tick.price))
        }
        return extremes.values.map { ($0.high - $0.low) / $0.low }.max() ?? 0
    }
}

func masterFile(rows: Int) -> String {
    (0..<rows).map { row in
        let base = Double(20 + row % 180)
        return "S\(1000 + row),\(row % 3 == 0 ? 100 : 10),0.05,\(base * 0.97),\(base * 1.03)"
    }.joined(separator: "\n")
}

let master = InstrumentMaster(csv: masterFile(rows: 900))
let watches = [("TSE", 6), ("NYS", 8), ("HKG", 5), ("SIX", 9), ("OSL", 6)].map { ExchangeWatch(code: $0.0, span: $0.1) }
print("instruments: \(master.count)")

var highest = 0.0
for second in 0..<170 {
    for (index, watch) in watches.enumerated() {
        for slot in 0..<9 {
            let row = (second / 20 + slot * 41 + index * 177) % 900
            guard let instrument = master["S\(1000 + row)"] else { continue }
            let base = Double(20 + row % 180)
            let move = 0.034 * sin(Double(second * 9 + slot) / 7 + Double(index))
            let price = (base * (1 + move) / instrument.tickSize).rounded() * instrument.tickSize
            watch.observe(Tick(time: second, instrument: instrument, price: price))
        }
        highest = max(highest, watch.volatility())
    }
    usleep(5_500)
}
for watch in watches {
    print("\(watch.code): \(watch.breaches) limit breaches")
}
print(String(format: "highest move %.3f%%", highest * 100))
