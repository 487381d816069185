final class Order {
    let id: Int
    let buy: Bool
    let price: Int
    var quantity: Int
    init(id: Int, buy: Bool, price: Int, quantity: Int) {
        self.id = id; self.buy = buy; self.price = price; self.quantity = quantity
    }
}

final class PriceLevel {
    let price: Int
    var orders: [Order] = []
    init(price: Int) { self.price = price }
}

final class Trade {
    let maker: Int, taker: Int, quantity: Int
    init(maker: Int, taker: Int, quantity: Int) { self.maker = maker; self.taker = taker; self.quantity = quantity }
}

final class Book {
    private var bids: [Int: PriceLevel] = [:]
    private var asks: [Int: PriceLevel] = [:]
    private var byID: [Int: Order] = [:]
    private(set) var volume = 0
    private(set) var cancelled = 0
    private(set) var lastTrade: Trade?

    func submit(_ o: Order) {
        while o.quantity > 0 {
            let best = o.buy ? asks.keys.min() : bids.keys.max()
            guard let p = best, o.buy ? p <= o.price : p >= o.price else { break }
            let level = (o.buy ? asks[p] : bids[p])!
            let maker = level.orders[0]
            let q = min(maker.quantity, o.quantity)
            maker.quantity -= q; o.quantity -= q
            volume += q
            lastTrade = Trade(maker: maker.id, taker: o.id, quantity: q)
            if maker.quantity == 0 { remove(maker) }
        }
        if o.quantity > 0 { rest(o) }
    }

    private func rest(_ o: Order) {
        byID[o.id] = o
        if o.buy {
            let l = bids[o.price] ?? PriceLevel(price: o.price)
            l.orders.append(o); bids[o.price] = l
        } else {
            let l = asks[o.price] ?? PriceLevel(price: o.price)
            l.orders.append(o); asks[o.price] = l
        }
    }

    private func remove(_ o: Order) {
        byID[o.id] = nil
        guard let level = o.buy ? bids[o.price] : asks[o.price] else { return }
        level.orders.removeAll { $0 === o }
        if level.orders.isEmpty { if o.buy { bids[o.price] = nil } else { asks[o.price] = nil } }
    }

    func cancel(_ id: Int) {
        guard let o = byID[id] else { return }
        remove(o)
        cancelled += 1
    }
    var resting: Int { byID.count }
}

var seed: UInt32 = 2024
func rnd(_ n: Int) -> Int { seed = seed &* 1664525 &+ 1013904223; return Int(seed >> 8) % n }

let book = Book()
var nextID = 0
for _ in 0..<12 {
    for _ in 0..<350 {
        nextID += 1
        let buy = rnd(2) == 0
        let distance = rnd(60) - 4
        book.submit(Order(id: nextID, buy: buy, price: buy ? 1000 - distance : 1000 + distance, quantity: 1 + rnd(40)))
        if rnd(100) < 45 { book.cancel(max(1, nextID - rnd(300))) }
    }
}
print("orders \(nextID) resting \(book.resting) cancelled \(book.cancelled) volume \(book.volume)")
