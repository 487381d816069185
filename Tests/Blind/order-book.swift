import Foundation

enum Side { case buy, sell }

final class Order {
    let id: Int
    let side: Side
    let price: Int
    var quantity: Int

    init(id: Int, side: Side, price: Int, quantity: Int) {
        self.id = id
        self.side = side
        self.price = price
        self.quantity = quantity
    }
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
    private var open: [Int: Order] = [:]
    private var rejected: [Order] = []
    private(set) var volume = 0
    private let band = 90...110

    func submit(_ order: Order) {
        guard band.contains(order.price) else {
            rejected.append(order)
            return
        }
        open[order.id] = order
    }

    func match() {
        let buys = open.values.filter { $0.side == .buy }.sorted { ($0.price, $1.id) > ($1.price, $0.id) }
        let sells = open.values.filter { $0.side == .sell }.sorted { ($0.price, $0.id) < ($1.price, $1.id) }
        for (buy, sell) in zip(buys, sells) {
            let trade = Trade(price: (buy.price + sell.price) / 2,
                              quantity: min(buy.quantity, sell.quantity))
            volume += trade.quantity
            open.removeValue(forKey: buy.id)
            open.removeValue(forKey: sell.id)
        }
    }

    func cancelAll(before id: Int) {
        for (key, _) in open where key < id { open.removeValue(forKey: key) }
    }

    var openCount: Int { open.count }
    var rejectedCount: Int { rejected.count }
}

let book = OrderBook()
var nextOrder = 0
for _ in 0..<50 {
    let first = nextOrder
    for n in 0..<40 {
        let outOfBand = n % 4 == 3
        let price = outOfBand ? 150 + n : 92 + n % 17
        book.submit(Order(id: nextOrder, side: n % 2 == 0 ? .buy : .sell,
                          price: price, quantity: 1 + n % 5))
        nextOrder += 1
    }
    book.match()
    book.cancelAll(before: first + 40)
}
print("orders \(nextOrder) volume \(book.volume) open \(book.openCount) rejected \(book.rejectedCount)")
