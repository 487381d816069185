final class Quote {
    let id: Int
    let dealer: Int
    let price: Int
    var size: Int
    init(id: Int, dealer: Int, price: Int, size: Int) {
        self.id = id; self.dealer = dealer; self.price = price; self.size = size
    }
}

final class Ladder {
    private var levels: [Int: [Quote]] = [:]
    func add(_ q: Quote) { levels[q.price, default: []].append(q) }
    func remove(_ q: Quote) {
        levels[q.price]?.removeAll { $0 === q }
        if levels[q.price]?.isEmpty == true { levels[q.price] = nil }
    }
    func best() -> Quote? { levels.keys.min().flatMap { levels[$0]?.first } }
    var count: Int { levels.values.reduce(0) { $0 + $1.count } }
}

final class Exchange {
    private let ladder = Ladder()
    private var table: [Int: Quote] = [:]
    private(set) var cancels = 0
    private(set) var filled = 0

    func post(_ q: Quote) {
        table[q.id] = q
        ladder.add(q)
    }

    func cancel(_ id: Int) {
        guard let q = table[id], q.size > 0 else { return }
        ladder.remove(q)
        q.size = 0
        cancels += 1
    }

    func buy(_ amount: Int) {
        var rest = amount
        while rest > 0, let q = ladder.best() {
            let n = min(rest, q.size)
            q.size -= n
            rest -= n
            if q.size == 0 {
                ladder.remove(q)
                table[q.id] = nil
                filled += 1
            }
        }
    }
    var resting: Int { ladder.count }
}

let exchange = Exchange()
var id = 0
for hour in 0..<9 {
    var fresh: [Int] = []
    for i in 0..<220 {
        id += 1
        // far quotes are expensive and never filled
        exchange.post(Quote(id: id, dealer: i % 12, price: i % 2 == 0 ? 500 + i % 30 : 900 + i % 70, size: 10))
        fresh.append(id)
    }
    // dealers withdraw 100 of the far quotes of this hour
    for (n, q) in fresh.enumerated() where n % 2 == 1 && n < 200 { exchange.cancel(q) }
    exchange.buy(80 * 10)
    _ = hour
}
print("posted \(id) cancels \(exchange.cancels) filled \(exchange.filled) resting \(exchange.resting)")
