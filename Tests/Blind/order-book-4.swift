import Foundation

enum Side { case bid, ask }

final class Order: Hashable {
    let id: Int
    let trader: String
    let side: Side
    let price: Int
    var quantity: Int
    let goodUntil: Int

    init(id: Int, trader: String, side: Side, price: Int, quantity: Int, goodUntil: Int) {
        self.id = id
        self.trader = trader
        self.side = side
        self.price = price
        self.quantity = quantity
        self.goodUntil = goodUntil
    }

    static func == (a: Order, b: Order) -> Bool { a === b }
    func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

final class Book {
    private var orders: [Int: Order] = [:]
    private var bids: [Int: [Order]] = [:]
    private var asks: [Int: [Order]] = [:]
    private var byTrader: [String: Set<Order>] = [:]
    private(set) var volume = 0
    private(set) var cancelled = 0
    private(set) var expired = 0

    func submit(_ order: Order) {
        match(order)
        guard order.quantity > 0 else { return }
        orders[order.id] = order
        byTrader[order.trader, default: []].insert(order)
        switch order.side {
        case .bid: bids[order.price, default: []].append(order)
        case .ask: asks[order.price, default: []].append(order)
        }
    }

    private func match(_ taker: Order) {
        while taker.quantity > 0, let maker = bestOpposite(of: taker) {
            let lots = min(taker.quantity, maker.quantity)
            taker.quantity -= lots
            maker.quantity -= lots
            volume += lots * maker.price
            if maker.quantity == 0 { remove(maker) }
        }
    }

    private func bestOpposite(of taker: Order) -> Order? {
        switch taker.side {
        case .bid:
            guard let price = asks.keys.min(), price <= taker.price else { return nil }
            return asks[price]?.first
        case .ask:
            guard let price = bids.keys.max(), price >= taker.price else { return nil }
            return bids[price]?.first
        }
    }

    func cancelAll(trader: String) {
        let mine = (byTrader[trader] ?? []).sorted { $0.id < $1.id }
        for order in mine {
            remove(order)
            cancelled += 1
        }
    }

    func expire(now: Int) {
        for order in orders.values where order.goodUntil <= now {
            remove(order)
            expired += 1
        }
    }

    private func remove(_ order: Order) {
        orders[order.id] = nil
        byTrader[order.trader]?.remove(order)
        switch order.side {
        case .bid: Book.strike(order, from: &bids)
        case .ask: Book.strike(order, from: &asks)
        }
    }

    private static func strike(_ order: Order, from levels: inout [Int: [Order]]) {
        levels[order.price]?.removeAll { $0 === order }
        if levels[order.price]?.isEmpty == true { levels[order.price] = nil }
    }

    var resting: Int { orders.count }
}

let book = Book()
let traders = ["auklet", "bittern", "curlew", "dunlin"]
for tick in 0..<2400 {
    let side: Side = (tick * 7) % 5 < 3 ? .bid : .ask
    let drift = (tick / 200) % 5
    let price = 1000 + drift + (tick * 37) % 23 + (side == .ask ? 4 : -4)
    book.submit(Order(id: tick, trader: traders[tick % 4], side: side, price: price, quantity: 1 + (tick * 13) % 9, goodUntil: tick + 120))
    if tick % 50 == 49 { book.cancelAll(trader: traders[(tick / 50) % 4]) }
    if tick % 20 == 0 { book.expire(now: tick) }
}
print("resting before close: \(book.resting)")
for trader in traders { book.cancelAll(trader: trader) }
print("volume: \(book.volume), cancelled: \(book.cancelled), expired: \(book.expired), resting: \(book.resting)")
