import Foundation

final class Order: Sendable {
    let id: Int
    let price: Int
    let buy: Bool
    init(id: Int, price: Int, buy: Bool) {
        self.id = id
        self.price = price
        self.buy = buy
    }
}

final class Trade: Sendable {
    let buyer: Int
    let seller: Int
    let price: Int
    init(buyer: Int, seller: Int, price: Int) {
        self.buyer = buyer
        self.seller = seller
        self.price = price
    }
}

actor OrderBook {
    static let shared = OrderBook()
    private var mailbox: [Order] = []
    private var bids: [Order] = []
    private var asks: [Order] = []
    private var history: [Trade] = []
    private(set) var traded = 0

    func submit(_ order: Order) { mailbox.append(order) }

    func match() {
        let batch = mailbox
        mailbox.removeAll()
        for order in batch {
            if order.buy {
                if let i = asks.firstIndex(where: { $0.price <= order.price }) {
                    let ask = asks.remove(at: i)
                    record(Trade(buyer: order.id, seller: ask.id, price: ask.price))
                } else {
                    bids.append(order)
                }
            } else if let i = bids.firstIndex(where: { $0.price >= order.price }) {
                let bid = bids.remove(at: i)
                record(Trade(buyer: bid.id, seller: order.id, price: bid.price))
            } else {
                asks.append(order)
            }
        }
    }

    private func record(_ trade: Trade) {
        traded += 1
        history.append(trade)
        if history.count > 64 { history.removeFirst(history.count - 64) }
    }

    /// Orders are good for one round only.
    func expire(before id: Int) {
        bids.removeAll { $0.id < id }
        asks.removeAll { $0.id < id }
    }

    var resting: Int { bids.count + asks.count }
}

@main
struct Exchange {
    static func main() async throws {
        let book = OrderBook.shared
        var id = 0
        var seed: UInt32 = 12345
        func random(_ n: Int) -> Int {
            seed = seed &* 1_664_525 &+ 1_013_904_223
            return Int(seed >> 8) % n
        }
        for round in 0..<10 {
            let first = id
            for _ in 0..<100 {
                id += 1
                await book.submit(Order(id: id, price: 90 + random(20), buy: random(2) == 0))
            }
            if round < 9 {
                await book.match()
                await book.expire(before: first)
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        await book.match()
        for _ in 0..<6 {
            id += 1
            await book.submit(Order(id: id, price: 100, buy: true))
        }
        print("trades", await book.traded > 64, "resting", await book.resting > 0)
    }
}
