import Foundation

enum OrderState: String {
    case created, reserved, paid, shipped, expired, cancelled
}

final class Transition {
    let from: OrderState
    let to: OrderState
    let tick: Int
    init(from: OrderState, to: OrderState, tick: Int) {
        self.from = from
        self.to = to
        self.tick = tick
    }
}

final class Order {
    let number: Int
    let sku: String
    private(set) var state = OrderState.created
    private(set) var history: [Transition] = []
    init(number: Int, sku: String) {
        self.number = number
        self.sku = sku
    }

    func move(to next: OrderState, tick: Int) {
        history.append(Transition(from: state, to: next, tick: tick))
        state = next
    }
}

final class Hold {
    let order: Order
    let quantity: Int
    let expires: Int
    init(order: Order, quantity: Int, expires: Int) {
        self.order = order
        self.quantity = quantity
        self.expires = expires
    }
}

final class Stockroom {
    private var holds: [String: [Hold]] = [:]
    private(set) var onHand: [String: Int] = [:]

    func receive(_ sku: String, _ amount: Int) { onHand[sku, default: 0] += amount }

    func hold(_ order: Order, quantity: Int, until tick: Int) {
        onHand[order.sku, default: 0] -= quantity
        holds[order.sku, default: []].append(Hold(order: order, quantity: quantity, expires: tick))
    }

    func settle(_ order: Order) {
        holds[order.sku]?.removeAll { $0.order === order }
    }

    func giveBack(_ order: Order) {
        for hold in holds[order.sku] ?? [] where hold.order === order {
            onHand[order.sku, default: 0] += hold.quantity
        }
        settle(order)
    }

    func overdue(at tick: Int) -> [Order] {
        holds.values.joined().filter { $0.expires <= tick && $0.order.state == .reserved }.map(\.order)
    }
}

final class OrderDesk {
    let stock = Stockroom()
    private(set) var counts: [OrderState: Int] = [:]

    func place(_ order: Order, tick: Int) {
        stock.hold(order, quantity: 1 + order.number % 3, until: tick + 25)
        advance(order, to: .reserved, tick: tick)
    }

    func advance(_ order: Order, to next: OrderState, tick: Int) {
        switch (order.state, next) {
        case (.reserved, .expired), (.reserved, .cancelled):
            stock.giveBack(order)
        case (.paid, .shipped):
            stock.settle(order)
        case (.paid, .cancelled):
            stock.receive(order.sku, 1 + order.number % 3)
        default:
            break
        }
        order.move(to: next, tick: tick)
        counts[next, default: 0] += 1
    }

    func expire(tick: Int) {
        for order in stock.overdue(at: tick) { advance(order, to: .expired, tick: tick) }
    }
}

let desk = OrderDesk()
for n in 0..<15 { desk.stock.receive("sku\(n)", 5000) }
var inProgress: [(order: Order, due: Int)] = []
for tick in 0..<2000 {
    let order = Order(number: tick, sku: "sku\(tick % 15)")
    desk.place(order, tick: tick)
    if tick % 9 != 4 { inProgress.append((order, tick + 6)) }
    while let first = inProgress.first, first.due <= tick {
        inProgress.removeFirst()
        switch first.order.number % 40 {
        case 11:
            desk.advance(first.order, to: .paid, tick: tick)
            desk.advance(first.order, to: .cancelled, tick: tick)
        case 20: desk.advance(first.order, to: .cancelled, tick: tick)
        default:
            desk.advance(first.order, to: .paid, tick: tick)
            desk.advance(first.order, to: .shipped, tick: tick)
        }
    }
    desk.expire(tick: tick)
    usleep(500)
}
for (order, _) in inProgress { desk.advance(order, to: .cancelled, tick: 2000) }
inProgress.removeAll()
desk.expire(tick: 2100)
for state in [OrderState.shipped, .expired, .cancelled] { print("\(state.rawValue): \(desk.counts[state] ?? 0)") }
print("on hand sku0: \(desk.stock.onHand["sku0"] ?? 0)")
