import Foundation

final class Cancellable {
    private var action: (() -> Void)?
    init(_ action: @escaping () -> Void) { self.action = action }
    func cancel() {
        action?()
        action = nil
    }
    deinit { cancel() }
    func store(in bag: inout [Cancellable]) { bag.append(self) }
}

protocol Publisher<Output> {
    associatedtype Output
    func sink(_ receive: @escaping (Output) -> Void) -> Cancellable
}

extension Publisher {
    func map<T>(_ transform: @escaping (Output) -> T) -> Mapped<Self, T> {
        Mapped(upstream: self, transform: transform)
    }
    func filter(_ isIncluded: @escaping (Output) -> Bool) -> Filtered<Self> {
        Filtered(upstream: self, isIncluded: isIncluded)
    }
}

extension Publisher where Output: Equatable {
    func removeDuplicates() -> Deduplicated<Self> { Deduplicated(upstream: self) }
}

struct Mapped<Upstream: Publisher, Output>: Publisher {
    let upstream: Upstream
    let transform: (Upstream.Output) -> Output
    func sink(_ receive: @escaping (Output) -> Void) -> Cancellable {
        let transform = self.transform
        return upstream.sink { receive(transform($0)) }
    }
}

struct Filtered<Upstream: Publisher>: Publisher {
    let upstream: Upstream
    let isIncluded: (Upstream.Output) -> Bool
    func sink(_ receive: @escaping (Upstream.Output) -> Void) -> Cancellable {
        let isIncluded = self.isIncluded
        return upstream.sink { if isIncluded($0) { receive($0) } }
    }
}

struct Deduplicated<Upstream: Publisher>: Publisher where Upstream.Output: Equatable {
    let upstream: Upstream
    func sink(_ receive: @escaping (Upstream.Output) -> Void) -> Cancellable {
        var last: Upstream.Output?
        return upstream.sink { value in
            guard value != last else { return }
            last = value
            receive(value)
        }
    }
}

final class Subject<Output>: Publisher {
    private var receivers: [Int: (Output) -> Void] = [:]
    private var nextKey = 0

    func send(_ value: Output) {
        for key in receivers.keys.sorted() { receivers[key]?(value) }
    }

    func sink(_ receive: @escaping (Output) -> Void) -> Cancellable {
        let key = nextKey
        nextKey += 1
        receivers[key] = receive
        return Cancellable { [weak self] in self?.receivers[key] = nil }
    }

    var subscriberCount: Int { receivers.count }
}

struct OrderLine: Equatable {
    let sku: String
    let quantity: Int
    let unitPrice: Int
}

enum FormOutcome {
    case submitted(total: Int)
    case rejected(reason: String)
}

final class OrderFormModel {
    let number: Int
    let lines = Subject<OrderLine>()
    let coupon = Subject<String>()
    private(set) var entered: [OrderLine] = []
    private(set) var total = 0
    private(set) var discountPercent = 0
    private(set) var title = ""
    private var rendering: [UInt8] = []
    private var bag: [Cancellable] = []

    init(number: Int) {
        self.number = number
    }

    func bind() {
        lines.filter { $0.quantity > 0 }
            .removeDuplicates()
            .sink { line in
                self.entered.append(line)
                self.recalculate()
            }
            .store(in: &bag)
        coupon.map { $0.hasPrefix("SAVE") ? Int($0.dropFirst(4)) ?? 0 : 0 }
            .sink { percent in
                self.discountPercent = min(percent, 30)
                self.recalculate()
            }
            .store(in: &bag)
    }

    private func recalculate() {
        let gross = entered.reduce(0) { $0 + $1.quantity * $1.unitPrice }
        total = gross * (100 - discountPercent) / 100
        title = "Order \(number): \(entered.count) lines, \(total)"
        rendering = Array(title.utf8)
    }

    func validate(stock: [String: Int]) -> FormOutcome {
        for line in entered where line.quantity > stock[line.sku, default: 0] {
            return .rejected(reason: "not enough \(line.sku)")
        }
        return .submitted(total: total)
    }

    func dismiss() {
        bag.removeAll()
    }
}

final class Navigator {
    private var stack: [OrderFormModel] = []
    private let events: Subject<String>
    init(events: Subject<String>) { self.events = events }

    func push(_ form: OrderFormModel) {
        stack.append(form)
        events.send("push")
    }

    func pop() -> OrderFormModel? {
        events.send("pop")
        return stack.popLast()
    }

    var depth: Int { stack.count }
}

final class Storefront {
    private let navigation = Subject<String>()
    private let navigator: Navigator
    private var stock: [String: Int] = [:]
    private var bag: [Cancellable] = []
    private var rejections: [String: Int] = [:]
    private(set) var revenue = 0
    private var orders = 0
    private var screens = 0

    init() {
        navigator = Navigator(events: navigation)
        navigation.filter { $0 == "push" }.sink { [weak self] _ in self?.screens += 1 }.store(in: &bag)
        for (index, sku) in ["bolt", "gear", "lamp", "rope"].enumerated() { stock[sku] = 400 + index * 50 }
    }

    func restock() {
        for sku in stock.keys { stock[sku, default: 0] += 60 }
    }

    func serve(_ number: Int) {
        let form = OrderFormModel(number: number)
        form.bind()
        navigator.push(form)
        fill(form)
        switch form.validate(stock: stock) {
        case .submitted(let total):
            revenue += total
            orders += 1
            for line in form.entered { stock[line.sku, default: 0] -= line.quantity }
            form.dismiss()
            _ = navigator.pop()
        case .rejected(let reason):
            rejections[reason, default: 0] += 1
            _ = navigator.pop()
        }
    }

    private func fill(_ form: OrderFormModel) {
        let skus = ["bolt", "gear", "lamp", "rope"]
        for step in 0..<5 {
            let sku = skus[(form.number + step) % skus.count]
            let quantity = form.number % 6 == 2 && step == 3 ? 50_000 : (form.number + step) % 4
            form.lines.send(OrderLine(sku: sku, quantity: quantity, unitPrice: 15 + step))
        }
        if form.number % 3 == 0 { form.coupon.send("SAVE\(form.number % 40)") }
    }

    func report() -> String {
        let refused = rejections.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
        let left = stock.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        return "orders=\(orders) revenue=\(revenue) screens=\(screens) depth=\(navigator.depth) \(left)\nrefused [\(refused)]"
    }
}

let shop = Storefront()
for round in 0..<60 {
    for slot in 0..<5 { shop.serve(round * 5 + slot) }
    shop.restock()
    usleep(12_000)
}
print(shop.report())
