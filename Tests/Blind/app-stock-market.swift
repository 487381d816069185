import Foundation

enum Side { case buy, sell }

final class Order {
    let id: Int
    let trader: String
    let side: Side
    let price: Int
    var quantity: Int
    let tick: Int
    init(id: Int, trader: String, side: Side, price: Int, quantity: Int, tick: Int) {
        self.id = id
        self.trader = trader
        self.side = side
        self.price = price
        self.quantity = quantity
        self.tick = tick
    }
}

final class Trade {
    let buyer: String
    let seller: String
    let price: Int
    let quantity: Int
    let tick: Int
    init(buyer: String, seller: String, price: Int, quantity: Int, tick: Int) {
        self.buyer = buyer
        self.seller = seller
        self.price = price
        self.quantity = quantity
        self.tick = tick
    }
}

final class Tape {
    private var window: [Trade] = []
    private let span: Int
    init(span: Int) { self.span = span }

    func record(_ trade: Trade) { window.append(trade) }

    func advance(to tick: Int) {
        if let keep = window.firstIndex(where: { $0.tick > tick - span }) {
            window.removeFirst(keep)
        } else {
            window.removeAll()
        }
    }

    var averagePrice: Double {
        let volume = window.reduce(0) { $0 + $1.quantity }
        guard volume > 0 else { return 0 }
        return Double(window.reduce(0) { $0 + $1.quantity * $1.price }) / Double(volume)
    }
}

final class Book {
    private var bids: [Order] = []
    private var asks: [Order] = []
    private var byId: [Int: Order] = [:]
    let symbol: String
    init(symbol: String) { self.symbol = symbol }

    func place(_ order: Order, onTrade: (Trade) -> Void) {
        match(order, onTrade: onTrade)
        guard order.quantity > 0 else { return }
        byId[order.id] = order
        if order.side == .buy {
            let at = bids.firstIndex { $0.price < order.price } ?? bids.endIndex
            bids.insert(order, at: at)
        } else {
            let at = asks.firstIndex { $0.price > order.price } ?? asks.endIndex
            asks.insert(order, at: at)
        }
    }

    private func match(_ order: Order, onTrade: (Trade) -> Void) {
        while order.quantity > 0 {
            guard let best = order.side == .buy ? asks.first : bids.first else { return }
            let crosses = order.side == .buy ? best.price <= order.price : best.price >= order.price
            guard crosses else { return }
            let quantity = min(best.quantity, order.quantity)
            best.quantity -= quantity
            order.quantity -= quantity
            onTrade(Trade(buyer: order.side == .buy ? order.trader : best.trader,
                          seller: order.side == .buy ? best.trader : order.trader,
                          price: best.price, quantity: quantity, tick: order.tick))
            if best.quantity == 0 { remove(best) }
        }
    }

    private func remove(_ order: Order) {
        byId[order.id] = nil
        if order.side == .buy { bids.removeAll { $0 === order } } else { asks.removeAll { $0 === order } }
    }

    func cancel(_ id: Int) -> Bool {
        guard let order = byId[id] else { return false }
        remove(order)
        return true
    }

    func expire(before tick: Int) -> Int {
        let old = byId.values.filter { $0.tick < tick }
        old.forEach(remove)
        return old.count
    }

    var depth: Int { byId.count }
}

final class Settlement {
    private var trades: [Trade] = []
    func add(_ trade: Trade) { trades.append(trade) }

    func positions() -> [String: Int] {
        var result: [String: Int] = [:]
        for trade in trades {
            result[trade.buyer, default: 0] += trade.quantity
            result[trade.seller, default: 0] -= trade.quantity
        }
        return result
    }

    var turnover: Int { trades.reduce(0) { $0 + $1.price * $1.quantity } }
    var count: Int { trades.count }
}

final class Exchange {
    private let books: [Book]
    private let tape = Tape(span: 40)
    private let settlement = Settlement()
    private var ids = 0
    private var seed: UInt32 = 9
    private var cancelled = 0
    private var expired = 0
    private var peak = 0.0

    init(symbols: [String]) { books = symbols.map(Book.init) }

    private func random(_ n: Int) -> Int {
        seed ^= seed << 13
        seed ^= seed >> 17
        seed ^= seed << 5
        return Int(seed) % n
    }

    func step(_ tick: Int) {
        let book = books[random(books.count)]
        for _ in 0..<3 {
            ids += 1
            let side: Side = random(2) == 0 ? .buy : .sell
            let price = 100 + random(9) - (side == .buy ? 5 : 3)
            let order = Order(id: ids, trader: "T\(random(12))", side: side, price: price, quantity: 1 + random(20), tick: tick)
            book.place(order) { trade in
                tape.record(trade)
                settlement.add(trade)
            }
        }
        if random(4) == 0, book.cancel(ids - random(3)) { cancelled += 1 }
        for book in books { expired += book.expire(before: tick - 60) }
        tape.advance(to: tick)
        peak = max(peak, tape.averagePrice)
    }

    func close() {
        print("trades \(settlement.count), turnover \(settlement.turnover), cancelled \(cancelled), expired \(expired)")
        for (trader, position) in settlement.positions().sorted(by: { $0.key < $1.key }) where abs(position) > 40 {
            print("  \(trader) \(position)")
        }
        print("peak average \(peak), open \(books.map(\.depth))")
    }
}

let exchange = Exchange(symbols: ["AAB", "BCC", "KLM"])
for tick in 0..<600 {
    exchange.step(tick)
    usleep(2600)
}
exchange.close()
