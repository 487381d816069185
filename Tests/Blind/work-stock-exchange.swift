import Foundation

enum Side { case buy, sell }

final class Order {
    let id: Int
    let trader: String
    let side: Side
    let price: Int
    let goodUntil: Int
    var remaining: Int

    init(id: Int, trader: String, side: Side, price: Int, quantity: Int, goodUntil: Int) {
        self.id = id
        self.trader = trader
        self.side = side
        self.price = price
        self.remaining = quantity
        self.goodUntil = goodUntil
    }
}

final class PriceLevel {
    let price: Int
    var orders: [Order] = []
    init(price: Int) { self.price = price }
    var volume: Int { orders.reduce(0) { $0 + $1.remaining } }
}

final class Book {
    let symbol: String
    private(set) var bids: [PriceLevel] = []
    private(set) var asks: [PriceLevel] = []
    var lastPrice = 1_000
    var tradedVolume = 0

    init(symbol: String) { self.symbol = symbol }

    func rest(_ order: Order) {
        if order.side == .buy {
            insert(order, into: &bids) { $0 > $1 }
        } else {
            insert(order, into: &asks) { $0 < $1 }
        }
    }

    private func insert(_ order: Order, into levels: inout [PriceLevel], better: (Int, Int) -> Bool) {
        var i = 0
        while i < levels.count && better(levels[i].price, order.price) { i += 1 }
        if i < levels.count && levels[i].price == order.price {
            levels[i].orders.append(order)
        } else {
            let level = PriceLevel(price: order.price)
            level.orders.append(order)
            levels.insert(level, at: i)
        }
    }

    func takeBest(against side: Side) -> PriceLevel? {
        side == .buy ? asks.first : bids.first
    }

    func prune() {
        bids.removeAll { $0.orders.isEmpty }
        asks.removeAll { $0.orders.isEmpty }
    }

    func withdraw(_ order: Order) {
        let levels = order.side == .buy ? bids : asks
        if let level = levels.first(where: { $0.price == order.price }) {
            level.orders.removeAll { $0 === order }
        }
        prune()
    }

    func sweepExpired(now: Int) -> Int {
        var count = 0
        for level in bids + asks {
            let before = level.orders.count
            level.orders.removeAll { $0.goodUntil < now }
            count += before - level.orders.count
        }
        prune()
        return count
    }
}

final class MatchingEngine {
    private var books: [String: Book] = [:]
    private var live: [Int: Order] = [:]
    private var nextId = 1
    private(set) var trades = 0
    private(set) var expired = 0
    private(set) var cancelled = 0

    func list(_ symbol: String) { books[symbol] = Book(symbol: symbol) }

    func submit(_ symbol: String, trader: String, side: Side, price: Int, quantity: Int, now: Int) -> Int? {
        guard let book = books[symbol] else { return nil }
        let order = Order(id: nextId, trader: trader, side: side, price: price,
                          quantity: quantity, goodUntil: now + 60)
        nextId += 1
        match(order, in: book)
        guard order.remaining > 0 else { return nil }
        book.rest(order)
        live[order.id] = order
        return order.id
    }

    private func match(_ incoming: Order, in book: Book) {
        while incoming.remaining > 0, let level = book.takeBest(against: incoming.side) {
            let crosses = incoming.side == .buy ? level.price <= incoming.price : level.price >= incoming.price
            guard crosses, let resting = level.orders.first else { break }
            let size = min(resting.remaining, incoming.remaining)
            resting.remaining -= size
            incoming.remaining -= size
            book.lastPrice = level.price
            book.tradedVolume += size
            trades += 1
            if resting.remaining == 0 {
                level.orders.removeFirst()
                live.removeValue(forKey: resting.id)
                if level.orders.isEmpty { book.prune() }
            }
        }
    }

    func cancel(_ symbol: String, id: Int) -> Bool {
        guard let book = books[symbol], let order = live.removeValue(forKey: id) else { return false }
        book.withdraw(order)
        cancelled += 1
        return true
    }

    func endOfMinute(now: Int) {
        for book in books.values { expired += book.sweepExpired(now: now) }
    }

    func lastPrice(_ symbol: String) -> Int { books[symbol]?.lastPrice ?? 0 }

    func depth(_ symbol: String) -> (Int, Int) {
        guard let book = books[symbol] else { return (0, 0) }
        return (book.bids.prefix(5).reduce(0) { $0 + $1.volume },
                book.asks.prefix(5).reduce(0) { $0 + $1.volume })
    }
}

let exchange = MatchingEngine()

func trade(minutes: Int) {
    let symbols = ["ABX", "COR", "DLT", "FNV"]
    symbols.forEach(exchange.list)
    var seed: UInt64 = 5
    func pick(_ n: Int) -> Int {
        seed = seed &* 2862933555777941757 &+ 3037000493
        return Int((seed >> 32) % UInt64(n))
    }
    var recent: [(String, Int)] = []
    for minute in 0..<minutes {
        for _ in 0..<12 {
            let symbol = symbols[pick(4)]
            let side: Side = pick(2) == 0 ? .buy : .sell
            let offset = pick(30) - 12
            let price = exchange.lastPrice(symbol) + (side == .buy ? -offset : offset)
            if let id = exchange.submit(symbol, trader: "T\(pick(40))", side: side,
                                        price: max(1, price), quantity: 1 + pick(20), now: minute) {
                recent.append((symbol, id))
            }
        }
        if recent.count > 30 {
            for _ in 0..<3 {
                let (symbol, id) = recent.remove(at: pick(recent.count))
                _ = exchange.cancel(symbol, id: id)
            }
            recent.removeFirst(recent.count - 30 > 0 ? recent.count - 30 : 0)
        }
        exchange.endOfMinute(now: minute)
        usleep(5_000)
    }
    for symbol in symbols {
        let (bid, ask) = exchange.depth(symbol)
        print("\(symbol) last \(exchange.lastPrice(symbol)) depth \(bid)/\(ask)")
    }
    print("trades \(exchange.trades) cancelled \(exchange.cancelled) expired \(exchange.expired)")
}

trade(minutes: 360)
