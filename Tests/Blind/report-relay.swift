import Foundation

enum Completion {
    case finished
    case failure(String)
}

final class PriceSink {
    private var upstream: RelaySubscription?
    private(set) var values: [Int] = []
    private(set) var isDone = false

    func attach(_ subscription: RelaySubscription) {
        upstream = subscription
        subscription.request(10)
    }

    func receive(_ value: Int) { values.append(value) }

    func receive(completion: Completion) {
        isDone = true
    }

    func cancel() {
        upstream?.cancel()
        upstream = nil
    }
}

final class RelaySubscription {
    private var downstream: PriceSink?
    private var demand = 0

    init(downstream: PriceSink) {
        self.downstream = downstream
    }

    func request(_ amount: Int) { demand += amount }

    func forward(_ value: Int) {
        guard demand > 0 else { return }
        demand -= 1
        downstream?.receive(value)
    }

    func forward(completion: Completion) {
        downstream?.receive(completion: completion)
    }

    func cancel() {
        downstream = nil
        demand = 0
    }
}

final class PriceRelay {
    private var subscriptions: [RelaySubscription] = []

    func subscribe(_ sink: PriceSink) {
        let subscription = RelaySubscription(downstream: sink)
        subscriptions.append(subscription)
        sink.attach(subscription)
    }

    func accept(_ value: Int) {
        subscriptions.forEach { $0.forward(value) }
    }

    func complete() {
        subscriptions.forEach { $0.forward(completion: .finished) }
        subscriptions.removeAll()
    }
}

func watchMarket(session: Int) -> Int {
    let relay = PriceRelay()
    let sinks = (0..<3).map { _ in PriceSink() }
    sinks.forEach { relay.subscribe($0) }
    for tick in 0..<6 { relay.accept(session + tick) }
    sinks[0].cancel()
    relay.accept(session + 6)
    relay.complete()
    return sinks.reduce(0) { $0 + $1.values.count } + sinks.filter(\.isDone).count
}

var total = 0
for session in 0..<60 {
    total += watchMarket(session: session)
    usleep(6_000)
}
print("60 sessions, \(total) deliveries")
