import Foundation

enum Side { case buy, sell }

final class Order {
    let id: Int
    let client: String
    let side: Side
    let price: Int
    let quantity: Int
    var remaining: Int

    init(id: Int, client: String, side: Side, price: Int, quantity: Int) {
        self.id = id
        self.client = client
        self.side = side
        self.price = price
        self.quantity = quantity
        self.remaining = quantity
    }
}

final class PriceLevel {
    let price: Int
    var orders: [Order] = []
    init(price: Int) { self.price = price }
}

final class Trade {
    let price: Int
    let quantity: Int
    init(price: Int, quantity: Int) {
        self.price = price
        self.quantity = quantity
    }
}

final class OrderBook {
    private var asks: [Int: PriceLevel] = [:]
    private var live: [Int: Order] = [:]
    private var byClient: [String: [Int: Order]] = [:]
    private var nextID = 0
    private(set) var tape: [Trade] = []
    private(set) var partialCancels = 0

    func sell(client: String, price: Int, quantity: Int) -> Int {
        let order = makeOrder(client, .sell, price, quantity)
        let level = asks[price] ?? PriceLevel(price: price)
        level.orders.append(order)
        asks[price] = level
        return order.id
    }

    func buy(client: String, limit: Int, quantity: Int) {
        let order = makeOrder(client, .buy, limit, quantity)
        for price in asks.keys.sorted() where price <= limit {
            guard let level = asks[price] else { continue }
            while order.remaining > 0, let resting = level.orders.first {
                let size = min(order.remaining, resting.remaining)
                order.remaining -= size
                resting.remaining -= size
                tape.append(Trade(price: price, quantity: size))
                if tape.count > 100 { tape.removeFirst(50) }
                if resting.remaining == 0 {
                    level.orders.removeFirst()
                    retire(resting)
                }
            }
            if level.orders.isEmpty { asks.removeValue(forKey: price) }
        }
        retire(order)
    }

    func cancel(_ id: Int) {
        guard let order = live.removeValue(forKey: id), let level = asks[order.price] else { return }
        level.orders.removeAll { $0 === order }
        if level.orders.isEmpty { asks.removeValue(forKey: order.price) }
        if order.remaining < order.quantity {
            partialCancels += 1
            return
        }
        byClient[order.client]?.removeValue(forKey: id)
    }

    private func makeOrder(_ client: String, _ side: Side, _ price: Int, _ quantity: Int) -> Order {
        let order = Order(id: nextID, client: client, side: side, price: price, quantity: quantity)
        nextID += 1
        live[order.id] = order
        byClient[client, default: [:]][order.id] = order
        return order
    }

    private func retire(_ order: Order) {
        live.removeValue(forKey: order.id)
        byClient[order.client]?.removeValue(forKey: order.id)
    }

    var resting: Int { live.count }
}

let book = OrderBook()
for second in 0..<50 {
    for n in 0..<30 {
        let i = second * 30 + n
        let id = book.sell(client: "maker-\(i % 7)", price: 1_000 + i % 13, quantity: 10)
        if i % 3 == 0 {
            book.buy(client: "taker-\(i % 5)", limit: 1_100, quantity: 10)
        } else {
            if i % 15 == 1 { book.buy(client: "taker-\(i % 5)", limit: 1_100, quantity: 4) }
            book.cancel(id)
        }
    }
    Thread.sleep(forTimeInterval: 0.02)
}
print("resting \(book.resting), partly filled then cancelled \(book.partialCancels), tape \(book.tape.count)")
