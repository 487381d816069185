import Foundation

struct Quote {
    let symbol: String
    let cents: Int
}

final class Subscription {
    private var cancelAction: (() -> Void)?

    init(_ cancel: @escaping () -> Void) { cancelAction = cancel }

    func cancel() {
        cancelAction?()
        cancelAction = nil
    }

    deinit { cancel() }
}

final class QuoteBus {
    fileprivate final class Listener {
        let id: Int
        let deliver: (Quote) -> Void
        init(id: Int, deliver: @escaping (Quote) -> Void) {
            self.id = id
            self.deliver = deliver
        }
    }

    private var listeners: [String: [Listener]] = [:]
    private var serial = 0
    private(set) var delivered = 0

    func subscribe(_ symbol: String, deliver: @escaping (Quote) -> Void) -> Subscription {
        serial += 1
        let id = serial
        listeners[symbol, default: []].append(Listener(id: id, deliver: deliver))
        return Subscription { [weak self] in
            self?.listeners[symbol]?.removeAll { $0.id == id }
        }
    }

    func publish(_ quote: Quote) {
        for listener in listeners[quote.symbol] ?? [] {
            listener.deliver(quote)
            delivered += 1
        }
    }

    var listenerCount: Int { listeners.values.reduce(0) { $0 + $1.count } }
}

final class PriceAlert {
    let owner: Int
    let threshold: Int
    private(set) var fired = false
    private(set) var expiresAt: Int
    private var subscription: Subscription?

    init(owner: Int, symbol: String, threshold: Int, expiresAt: Int, bus: QuoteBus) {
        self.owner = owner
        self.threshold = threshold
        self.expiresAt = expiresAt
        subscription = bus.subscribe(symbol) { [weak self] quote in
            self?.check(quote)
        }
    }

    private func check(_ quote: Quote) {
        guard !fired, quote.cents >= threshold else { return }
        fired = true
        subscription?.cancel()
        subscription = nil
    }
}

let bus = QuoteBus()
let symbols = ["NRDC", "HELX", "QOIL", "BYTE", "SOLR", "AGRI"]
var prices = [4200, 1310, 880, 15990, 2750, 640]
var alerts: [PriceAlert] = []
var firedCount = 0
var expiredCount = 0
var seed: UInt64 = 1

func next(_ n: Int) -> Int {
    seed = seed &* 6364136223846793005 &+ 1442695040888963407
    return Int((seed >> 33) % UInt64(n))
}

for tick in 0..<2000 {
    let s = next(symbols.count)
    prices[s] = max(100, prices[s] + next(2 * prices[s] / 50 + 1) - prices[s] / 50)
    bus.publish(Quote(symbol: symbols[s], cents: prices[s]))

    if tick < 1850 {
        let w = next(symbols.count)
        alerts.append(PriceAlert(owner: tick, symbol: symbols[w],
                                 threshold: prices[w] * (1002 + next(60)) / 1000,
                                 expiresAt: tick + 60 + next(60), bus: bus))
    }
    alerts.removeAll { alert in
        if alert.fired { firedCount += 1; return true }
        if alert.expiresAt <= tick { expiredCount += 1; return true }
        return false
    }
}

print("alerts fired \(firedCount), expired \(expiredCount), pending \(alerts.count)")
print("quotes delivered \(bus.delivered), listeners \(bus.listenerCount)")
for (symbol, price) in zip(symbols, prices) {
    print("\(symbol) \(String(format: "%.2f", Double(price) / 100))")
}
