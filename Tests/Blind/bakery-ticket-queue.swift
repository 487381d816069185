import Foundation

final class Ticket {
    let number: Int
    let order: [(item: String, quantity: Int)]
    let arrived: Int

    init(number: Int, order: [(item: String, quantity: Int)], arrived: Int) {
        self.number = number
        self.order = order
        self.arrived = arrived
    }
}

final class QueueNode<Element> {
    let element: Element
    var next: QueueNode<Element>?
    init(_ element: Element) { self.element = element }
}

final class LinkedQueue<Element> {
    private var head: QueueNode<Element>?
    private var tail: QueueNode<Element>?
    private(set) var count = 0
    private(set) var peak = 0

    func enqueue(_ element: Element) {
        let node = QueueNode(element)
        if let t = tail { t.next = node } else { head = node }
        tail = node
        count += 1
        peak = max(peak, count)
    }

    func dequeue() -> Element? {
        guard let node = head else { return nil }
        head = node.next
        if head == nil { tail = nil }
        count -= 1
        return node.element
    }
}

let prices: [String: Int] = ["roll": 45, "pretzel": 110, "rye": 420, "danish": 260, "coffee": 240]
let names = prices.keys.sorted()

final class Counter {
    let clerk: String
    private var busyUntil = 0
    private(set) var takings = 0
    private(set) var served = 0
    private(set) var waited = 0

    init(clerk: String) { self.clerk = clerk }

    func work(at second: Int, queue: LinkedQueue<Ticket>) {
        guard second >= busyUntil, let ticket = queue.dequeue() else { return }
        var items = 0
        for line in ticket.order {
            takings += prices[line.item]! * line.quantity
            items += line.quantity
        }
        waited += second - ticket.arrived
        served += 1
        busyUntil = second + 6 + 3 * items
    }
}

let queue = LinkedQueue<Ticket>()
let counters = ["Mira", "Jonas", "Edda"].map(Counter.init(clerk:))
var issued = 0
var seed = 5

func random(_ n: Int) -> Int {
    seed = (seed * 48271) % 2147483647
    return seed % n
}

let closing = 9000
var second = 0
while second < closing || queue.count > 0 {
    let rush = (1800..<3600).contains(second)
    if second < closing && random(rush ? 4 : 8) == 0 {
        issued += 1
        var order: [(item: String, quantity: Int)] = []
        for _ in 0...random(2) {
            order.append((names[random(names.count)], 1 + random(3)))
        }
        queue.enqueue(Ticket(number: issued, order: order, arrived: second))
    }
    for counter in counters {
        counter.work(at: second, queue: queue)
    }
    second += 1
}

print("issued \(issued) tickets, longest queue \(queue.peak)")
for counter in counters {
    let euros = String(format: "%.2f", Double(counter.takings) / 100)
    print("\(counter.clerk): \(counter.served) customers, \(euros) EUR, average wait \(counter.waited / max(counter.served, 1)) s")
}
print("shop closed at second \(second)")
