import Foundation

final class Envelope {
    let offset: Int
    let topic: String
    let payload: [UInt8]
    var deliveries = 0
    var failure: String?

    init(offset: Int, topic: String, payload: [UInt8]) {
        self.offset = offset
        self.topic = topic
        self.payload = payload
    }
}

enum Acknowledgement {
    case accepted
    case poisoned(String)
}

typealias Receiver = (Envelope) -> Acknowledgement

final class TopicLog {
    let name: String
    private(set) var envelopes: [Envelope] = []
    private(set) var firstOffset = 0
    private(set) var longest = 0
    var nextOffset: Int { firstOffset + envelopes.count }

    init(name: String) { self.name = name }

    func append(_ payload: [UInt8]) -> Envelope {
        let envelope = Envelope(offset: nextOffset, topic: name, payload: payload)
        envelopes.append(envelope)
        longest = max(longest, envelopes.count)
        return envelope
    }

    func read(from offset: Int, limit: Int) -> ArraySlice<Envelope> {
        let start = max(0, offset - firstOffset)
        guard start < envelopes.count else { return [] }
        return envelopes[start..<min(envelopes.count, start + limit)]
    }

    func trim(below offset: Int) {
        let count = min(max(0, offset - firstOffset), envelopes.count)
        envelopes.removeFirst(count)
        firstOffset += count
    }
}

final class Subscription {
    let id: Int
    let topic: String
    let durable: Bool
    var cursor: Int
    var batch: Int
    private var receiver: Receiver?
    private unowned let broker: Broker

    init(id: Int, topic: String, durable: Bool, cursor: Int, batch: Int, broker: Broker, receiver: @escaping Receiver) {
        self.id = id
        self.topic = topic
        self.durable = durable
        self.cursor = cursor
        self.batch = batch
        self.broker = broker
        self.receiver = receiver
    }

    func deliver(_ envelope: Envelope) -> Acknowledgement {
        cursor = envelope.offset + 1
        envelope.deliveries += 1
        return receiver?(envelope) ?? .accepted
    }

    func cancel() {
        receiver = nil
        broker.remove(self)
    }
}

final class Broker {
    private var logs: [String: TopicLog] = [:]
    private var subscriptions: [Int: Subscription] = [:]
    private var deadLetters: [Envelope] = []
    private var nextID = 1
    private(set) var delivered = 0

    func log(for topic: String) -> TopicLog {
        if let log = logs[topic] { return log }
        let log = TopicLog(name: topic)
        logs[topic] = log
        return log
    }

    func publish(_ payload: [UInt8], on topic: String) {
        _ = log(for: topic).append(payload)
    }

    func subscribe(_ topic: String, durable: Bool = false, batch: Int = 64, _ receiver: @escaping Receiver) -> Subscription {
        let start = durable ? log(for: topic).firstOffset : log(for: topic).nextOffset
        let subscription = Subscription(id: nextID, topic: topic, durable: durable, cursor: start,
                                        batch: batch, broker: self, receiver: receiver)
        nextID += 1
        subscriptions[subscription.id] = subscription
        return subscription
    }

    func remove(_ subscription: Subscription) { subscriptions[subscription.id] = nil }

    func pump() {
        for id in subscriptions.keys.sorted() {
            guard let subscription = subscriptions[id] else { continue }
            for envelope in log(for: subscription.topic).read(from: subscription.cursor, limit: subscription.batch) {
                delivered += 1
                if case .poisoned(let reason) = subscription.deliver(envelope), envelope.failure == nil {
                    envelope.failure = reason
                    deadLetters.append(envelope)
                }
            }
        }
        for log in logs.values {
            let cursors = subscriptions.values.filter { $0.topic == log.name }.map(\.cursor)
            log.trim(below: cursors.min() ?? log.nextOffset)
        }
    }

    func takeDeadLetters() -> [Envelope] {
        defer { deadLetters = [] }
        return deadLetters
    }

    var backlog: Int { logs.values.reduce(0) { $0 + $1.envelopes.count } }
    var longest: Int { logs.values.map(\.longest).max() ?? 0 }
    var subscriberCount: Int { subscriptions.count }
}

final class BillingConsumer {
    private(set) var amount = 0
    private var subscription: Subscription?

    func attach(to broker: Broker) {
        subscription = broker.subscribe("payments", durable: true) { [unowned self] in self.book($0) }
    }

    private func book(_ envelope: Envelope) -> Acknowledgement {
        guard envelope.payload[0] % 16 != 10 else { return .poisoned("currency unknown") }
        amount += Int(envelope.payload[0])
        return .accepted
    }

    func rebook(_ envelopes: [Envelope]) -> Int {
        for envelope in envelopes where envelope.failure != nil {
            amount += Int(envelope.payload[0]) + envelope.deliveries
        }
        return envelopes.count
    }
}

final class Archiver {
    private var digest: UInt32 = 5381
    private(set) var archived = 0
    private(set) var subscription: Subscription?

    func attach(to broker: Broker, topic: String) {
        subscription = broker.subscribe(topic, durable: true, batch: 6) { envelope in
            self.archive(envelope)
            return .accepted
        }
    }

    private func archive(_ envelope: Envelope) {
        for byte in envelope.payload { digest = (digest &* 33) ^ UInt32(byte) }
        archived += 1
    }

    func detach() {
        subscription?.cancel()
        subscription = nil
    }
    var fingerprint: UInt32 { digest }
}

final class DashboardView {
    private var samples: [Int] = []
    private var subscriptions: [Subscription] = []

    func open(on broker: Broker) {
        for topic in ["payments", "clicks"] {
            subscriptions.append(broker.subscribe(topic) { envelope in
                self.samples.append(Int(envelope.payload[0]))
                return .accepted
            })
        }
    }

    func close() -> Int {
        subscriptions.forEach { $0.cancel() }
        subscriptions.removeAll()
        return samples.reduce(0, +)
    }
}

let broker = Broker()
let billing = BillingConsumer()
let archiver = Archiver()
billing.attach(to: broker)
archiver.attach(to: broker, topic: "payments")
var viewed = 0
var serial = 0

for _ in 0..<56 {
    let dashboards = (0..<3).map { _ in DashboardView() }
    dashboards.forEach { $0.open(on: broker) }
    for _ in 0..<20 {
        serial += 1
        let payload = [UInt8](repeating: UInt8(truncatingIfNeeded: serial &* 37), count: 180)
        broker.publish(payload, on: serial % 2 == 0 ? "payments" : "clicks")
    }
    broker.pump()
    for dashboard in dashboards { viewed += dashboard.close() }
    usleep(10_000)
}

let waiting = broker.backlog
archiver.subscription?.batch = 40
while broker.backlog > 0 {
    broker.pump()
    usleep(3_000)
}
archiver.detach()
let recovered = billing.rebook(broker.takeDeadLetters())
print("published=\(serial) delivered=\(broker.delivered) viewed=\(viewed) waiting=\(waiting) longest=\(broker.longest)")
print("archived=\(archiver.archived) digest=\(archiver.fingerprint) recovered=\(recovered) billed=\(billing.amount) subscribers=\(broker.subscriberCount)")
