import Foundation

/// Prices of the day, shared by all terminals of the restaurant.
final class PriceBoard {
    static let shared = PriceBoard()

    private(set) var prices: [String: Int] = [
        "soup": 650, "risotto": 1480, "trout": 1990, "tart": 720, "coffee": 310,
    ]
    private var watchers: [(String, Int) -> Void] = []

    func onPriceChange(_ handler: @escaping (String, Int) -> Void) {
        watchers.append(handler)
    }

    func update(_ dish: String, cents: Int) {
        prices[dish] = cents
        for watcher in watchers { watcher(dish, cents) }
    }
}

struct OrderLine {
    let dish: String
    let quantity: Int
    var unitPrice: Int
}

/// The view of a waiter while an order of one table is open.
final class OrderScreen {
    let table: Int
    private var lines: [OrderLine] = []
    private(set) var total = 0

    init(table: Int) {
        self.table = table
    }

    func appear() {
        PriceBoard.shared.onPriceChange { dish, cents in
            self.reprice(dish, cents)
        }
    }

    func add(_ dish: String, _ quantity: Int) {
        let price = PriceBoard.shared.prices[dish] ?? 0
        lines.append(OrderLine(dish: dish, quantity: quantity, unitPrice: price))
        total += price * quantity
    }

    private func reprice(_ dish: String, _ cents: Int) {
        for index in lines.indices where lines[index].dish == dish {
            total += (cents - lines[index].unitPrice) * lines[index].quantity
            lines[index].unitPrice = cents
        }
    }

    func settle() -> Int {
        defer { lines.removeAll() }
        return total
    }
}

final class Terminal {
    private var current: OrderScreen?
    private(set) var takings = 0
    private(set) var served = 0

    func serve(table: Int, seed: Int) {
        let screen = OrderScreen(table: table)
        screen.appear()
        current = screen
        let dishes = ["soup", "risotto", "trout", "tart", "coffee"]
        for course in 0..<(2 + seed % 3) {
            screen.add(dishes[(seed + course) % dishes.count], 1 + (seed + course) % 2)
        }
        if seed % 12 == 0 {
            PriceBoard.shared.update(dishes[seed % dishes.count], cents: 600 + seed)
        }
        takings += screen.settle()
        served += 1
        current = nil
    }
}

let terminal = Terminal()
for evening in 0..<6 {
    for guest in 0..<40 {
        terminal.serve(table: guest % 14, seed: evening * 40 + guest)
        if guest % 5 == 0 { usleep(8_000) }
    }
}
print("served \(terminal.served) orders, takings \(terminal.takings) cents")
