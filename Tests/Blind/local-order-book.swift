import Foundation

enum Side { case buy, sell }

final class Order {
    let id: Int
    let trader: Int
    let side: Side
    let price: Int
    var open: Int
    let goodUntil: Int
    init(id: Int, trader: Int, side: Side, price: Int, quantity: Int, goodUntil: Int) {
        self.id = id
        self.trader = trader
        self.side = side
        self.price = price
        self.open = quantity
        self.goodUntil = goodUntil
    }
}

final class Trade {
    let time: Int
    let price: Int
    let quantity: Int
    let buyer: Int
    let seller: Int
    init(time: Int, price: Int, quantity: Int, buyer: Int, seller: Int) {
        self.time = time
        self.price = price
        self.quantity = quantity
        self.buyer = buyer
        self.seller = seller
    }
}

final class PriceLevel {
    let price: Int
    var queue: [Order] = []
    init(price: Int) { self.price = price }
    var volume: Int { queue.reduce(0) { $0 + $1.open } }
}

final class Tape {
    private var trades: [Trade] = []
    var count: Int { trades.count }
    var last: Trade? { trades.last }

    func append(_ t: Trade) { trades.append(t) }

    private func firstIndex(from time: Int) -> Int {
        var lo = 0, hi = trades.count
        while lo < hi {
            let mid = (lo + hi) / 2
            if trades[mid].time < time { lo = mid + 1 } else { hi = mid }
        }
        return lo
    }

    func volume(from: Int, to: Int) -> Int {
        trades[firstIndex(from: from)..<firstIndex(from: to)].reduce(0) { $0 + $1.quantity }
    }

    func candles(width: Int) -> [(open: Int, high: Int, low: Int, close: Int)] {
        var result: [(Int, Int, Int, Int)] = []
        var start = 0
        while start < trades.count {
            let bucket = trades[start].time / width
            var end = start
            var high = Int.min, low = Int.max
            while end < trades.count, trades[end].time / width == bucket {
                high = max(high, trades[end].price)
                low = min(low, trades[end].price)
                end += 1
            }
            result.append((trades[start].price, high, low, trades[end - 1].price))
            start = end
        }
        return result
    }
}

final class Book {
    private var bids: [PriceLevel] = []
    private var asks: [PriceLevel] = []
    private var index: [Int: Order] = [:]
    private let tape: Tape
    private(set) var expired = 0
    private(set) var cancels = 0

    init(tape: Tape) { self.tape = tape }

    func place(_ order: Order, now: Int) {
        match(order, now: now)
        guard order.open > 0 else { return }
        index[order.id] = order
        rest(order)
    }

    private func match(_ order: Order, now: Int) {
        while order.open > 0 {
            guard let level = order.side == .buy ? asks.first : bids.first else { return }
            if order.side == .buy && level.price > order.price { return }
            if order.side == .sell && level.price < order.price { return }
            let other = level.queue[0]
            let q = min(order.open, other.open)
            order.open -= q
            other.open -= q
            let buyer = order.side == .buy ? order.trader : other.trader
            let seller = order.side == .buy ? other.trader : order.trader
            tape.append(Trade(time: now, price: level.price, quantity: q, buyer: buyer, seller: seller))
            if other.open == 0 { drop(other) }
        }
    }

    private func rest(_ o: Order) {
        if o.side == .buy {
            insert(o, into: &bids) { $0 > $1 }
        } else {
            insert(o, into: &asks) { $0 < $1 }
        }
    }

    private func insert(_ o: Order, into levels: inout [PriceLevel], better: (Int, Int) -> Bool) {
        if let l = levels.first(where: { $0.price == o.price }) {
            l.queue.append(o)
            return
        }
        let l = PriceLevel(price: o.price)
        l.queue.append(o)
        let at = levels.firstIndex { better(o.price, $0.price) } ?? levels.count
        levels.insert(l, at: at)
    }

    private func drop(_ o: Order) {
        index[o.id] = nil
        if o.side == .buy { remove(o, from: &bids) } else { remove(o, from: &asks) }
    }

    private func remove(_ o: Order, from levels: inout [PriceLevel]) {
        guard let i = levels.firstIndex(where: { $0.price == o.price }) else { return }
        levels[i].queue.removeAll { $0 === o }
        if levels[i].queue.isEmpty { levels.remove(at: i) }
    }

    func cancel(_ id: Int) {
        guard let o = index[id] else { return }
        drop(o)
        cancels += 1
    }

    func expire(now: Int) {
        for o in Array(index.values) where o.goodUntil <= now {
            drop(o)
            expired += 1
        }
    }

    var resting: Int { index.count }
    var depth: (Int, Int) { (bids.first?.volume ?? 0, asks.first?.volume ?? 0) }
}

final class Exchange {
    let tape = Tape()
    let book: Book
    private var nextId = 0
    private var rng = SystemRandomNumberGenerator()
    private var mid = 1000
    private var busiest = 0

    init() { book = Book(tape: tape) }

    func step(_ now: Int) {
        for _ in 0..<5 {
            nextId += 1
            let side: Side = Bool.random(using: &rng) ? .buy : .sell
            let offset = Int.random(in: -3...8, using: &rng)
            let price = side == .buy ? mid - offset : mid + offset
            book.place(Order(id: nextId, trader: nextId % 31, side: side, price: price,
                             quantity: Int.random(in: 1...20, using: &rng), goodUntil: now + 60), now: now)
        }
        if now % 3 == 0 { book.cancel(nextId - Int.random(in: 0...40, using: &rng)) }
        if now % 10 == 0 {
            book.expire(now: now)
            busiest = max(busiest, tape.volume(from: now - 50, to: now))
        }
        mid = tape.last?.price ?? mid
    }

    func close() {
        let candles = tape.candles(width: 100)
        let up = candles.filter { $0.close >= $0.open }.count
        print("trades \(tape.count) resting \(book.resting) expired \(book.expired) cancels \(book.cancels)")
        print("candles \(candles.count) up \(up) busiest window \(busiest) depth \(book.depth)")
    }
}

let exchange = Exchange()
for now in 0..<700 {
    exchange.step(now)
    usleep(3_000)
}
exchange.close()
