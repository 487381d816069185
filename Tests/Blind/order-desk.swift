import Foundation

// Web shop back office: baskets become orders, stock is reserved, orders are
// packed and shipped, and finished orders are condensed into daily figures.

final class Product {
    let sku: Int
    let price: Int
    private(set) var stock: Int
    private(set) var reserved = 0

    init(sku: Int, price: Int, stock: Int) {
        self.sku = sku
        self.price = price
        self.stock = stock
    }

    func reserve(_ quantity: Int) -> Bool {
        guard stock - reserved >= quantity else { return false }
        reserved += quantity
        return true
    }

    func release(_ quantity: Int) { reserved -= quantity }
    func ship(_ quantity: Int) { reserved -= quantity; stock -= quantity }
    func restock(_ quantity: Int) { stock += quantity }
}

final class OrderLine {
    unowned let product: Product
    unowned let order: Order
    let quantity: Int

    init(product: Product, order: Order, quantity: Int) {
        self.product = product
        self.order = order
        self.quantity = quantity
    }

    var amount: Int { product.price * quantity * (100 - order.discount) / 100 }
}

protocol OrderObserver: AnyObject {
    func orderDidChange(_ order: Order, from old: Order.State)
}

final class Order {
    enum State: Int { case received, reserved, packed, shipped, cancelled }
    let id: Int
    let customer: Int
    let discount: Int
    private(set) var lines: [OrderLine] = []
    weak var observer: OrderObserver?
    private(set) var state = State.received {
        didSet { observer?.orderDidChange(self, from: oldValue) }
    }

    init(id: Int, customer: Int, discount: Int) {
        self.id = id
        self.customer = customer
        self.discount = discount
    }

    func add(_ product: Product, quantity: Int) { lines.append(OrderLine(product: product, order: self, quantity: quantity)) }
    var total: Int { lines.reduce(0) { $0 + $1.amount } }

    func reserve() -> Bool {
        var taken: [OrderLine] = []
        for line in lines {
            guard line.product.reserve(line.quantity) else {
                for other in taken { other.product.release(other.quantity) }
                return false
            }
            taken.append(line)
        }
        state = .reserved
        return true
    }

    func pack() { state = .packed }

    func ship() {
        for line in lines { line.product.ship(line.quantity) }
        state = .shipped
    }

    func cancel() {
        if state == .reserved || state == .packed { for line in lines { line.product.release(line.quantity) } }
        state = .cancelled
    }
}

final class DayFigures {
    let day: Int
    var shipped = 0, cancelled = 0, revenue = 0
    init(day: Int) { self.day = day }
}

final class OrderDesk: OrderObserver {
    private let catalogue: [Product]
    private var open: [Int: Order] = [:]
    private var customers: [Int: [Int]] = [:]
    private(set) var figures: [DayFigures] = []
    private(set) var transitions: [String: Int] = [:]
    private var nextID = 0
    private(set) var peakOpen = 0

    init(catalogue: [Product]) { self.catalogue = catalogue }

    func startDay(_ day: Int) { figures.append(DayFigures(day: day)) }

    func receive(customer: Int, basket: [(sku: Int, quantity: Int)]) {
        nextID += 1
        let loyalty = min(customers[customer]?.count ?? 0, 3) * 5
        let order = Order(id: nextID, customer: customer, discount: loyalty)
        order.observer = self
        for (sku, quantity) in basket { order.add(catalogue[sku], quantity: quantity) }
        open[order.id] = order
        customers[customer, default: []].append(order.id)
        peakOpen = max(peakOpen, open.count)
    }

    func orderDidChange(_ order: Order, from old: Order.State) {
        transitions["\(old)->\(order.state)", default: 0] += 1
        guard let today = figures.last else { return }
        switch order.state {
        case .shipped:
            today.shipped += 1
            today.revenue += order.total
            finish(order)
        case .cancelled:
            today.cancelled += 1
            finish(order)
        default: break
        }
    }

    private func finish(_ order: Order) {
        open[order.id] = nil
        customers[order.customer]?.removeAll { $0 == order.id }
        if customers[order.customer]?.isEmpty == true { customers[order.customer] = nil }
    }

    func work(capacity: Int, chance: (Int) -> Bool) {
        for order in open.values.sorted(by: { $0.id < $1.id }).prefix(capacity) {
            switch order.state {
            case .received: if !order.reserve() { order.cancel() }
            case .reserved: if chance(30) { order.cancel() } else { order.pack() }
            case .packed: order.ship()
            case .shipped, .cancelled: break
            }
        }
    }

    func restock(chance: (Int) -> Bool) {
        for product in catalogue where product.stock - product.reserved < 20 { product.restock(chance(2) ? 150 : 60) }
    }

    var openOrders: Int { open.count }
}

struct Shoppers {
    private var seed: UInt64 = 0xDEAD_BEEF_CAFE
    mutating func below(_ bound: Int) -> Int {
        seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((seed >> 33) % UInt64(bound))
    }
    mutating func basket() -> [(sku: Int, quantity: Int)] {
        (0..<(1 + below(6))).map { _ in (below(300), 1 + below(4)) }
    }
}

let catalogue = (0..<300).map { Product(sku: $0, price: 199 + $0 * 37 % 5_000, stock: 120) }
let desk = OrderDesk(catalogue: catalogue)
var shoppers = Shoppers()
for day in 1...550 {
    desk.startDay(day)
    for _ in 0..<(120 + shoppers.below(day % 60 < 8 ? 140 : 40)) { desk.receive(customer: shoppers.below(4_000), basket: shoppers.basket()) }
    for _ in 0..<4 { desk.work(capacity: 140) { shoppers.below($0) == 0 } }
    if day % 2 == 0 { desk.restock { shoppers.below($0) == 0 } }
}
let shipped = desk.figures.reduce(0) { $0 + $1.shipped }
let revenue = desk.figures.reduce(0) { $0 + $1.revenue }
let best = desk.figures.max { $0.revenue < $1.revenue }!
print("shipped \(shipped), cancelled \(desk.figures.reduce(0) { $0 + $1.cancelled }), revenue \(revenue / 100), best day \(best.day)")
print("open \(desk.openOrders), peak \(desk.peakOpen), cheapest sku \(catalogue.min { $0.price < $1.price }!.sku)")
print(desk.transitions.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
