import Foundation

class Event {
    let sequence: Int
    init(sequence: Int) { self.sequence = sequence }
    func apply(to s: inout [String: Int]) {}
}
final class Added: Event {
    let item: String, amount: Int
    init(sequence: Int, item: String, amount: Int) { self.item = item; self.amount = amount; super.init(sequence: sequence) }
    override func apply(to s: inout [String: Int]) { s[item, default: 0] += amount }
}
final class Removed: Event {
    let item: String
    init(sequence: Int, item: String) { self.item = item; super.init(sequence: sequence) }
    override func apply(to s: inout [String: Int]) { s[item] = nil }
}

final class Snapshot {
    let state: [String: Int]
    let older: Snapshot?
    init(state: [String: Int], older: Snapshot?) { self.state = state; self.older = older }
    func trimmed(to n: Int) -> Snapshot? {
        n == 0 ? nil : Snapshot(state: state, older: older?.trimmed(to: n - 1))
    }
}

final class Cart {
    let name: String
    private var events: [Event] = []
    private var state: [String: Int] = [:]
    private var history: Snapshot?
    private var depth = 0
    private(set) var undone = 0
    init(name: String) { self.name = name }

    private func record(_ e: Event) {
        history = Snapshot(state: state, older: history)
        depth += 1
        if depth > 20 {
            history = history?.trimmed(to: 10)
            depth = 10
        }
        events.append(e)
        e.apply(to: &state)
    }
    func add(_ item: String, _ n: Int) { record(Added(sequence: events.count, item: item, amount: n)) }
    func remove(_ item: String) { record(Removed(sequence: events.count, item: item)) }
    func undo() {
        guard let h = history, !events.isEmpty else { return }
        events.removeLast()
        state = h.state
        history = h.older
        depth -= 1
        undone += 1
    }
    func consistent() -> Bool {
        var s: [String: Int] = [:]
        for e in events { e.apply(to: &s) }
        return s == state
    }
    var length: Int { events.count }
}

@main
enum CartApp {
    static var carts: [Cart] = []
    static func main() {
        for n in 0..<15 {
            let cart = Cart(name: "cart \(n)")
            carts.append(cart)
            for i in 0..<90 {
                for c in carts.suffix(3) { c.add("article number \((i * 5 + n) % 23)", 1 + i % 4) }
                if i % 7 == 6 { cart.remove("article number \(i % 23)") }
                if i % 10 == 9 { cart.undo() }
            }
        }
        let good = carts.filter { $0.consistent() }.count
        print("carts \(carts.count) consistent \(good) events \(carts.reduce(0) { $0 + $1.length }) undone \(carts.reduce(0) { $0 + $1.undone })")
    }
}
