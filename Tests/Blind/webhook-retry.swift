import Foundation
import Dispatch

struct Endpoint {
    let url: String
    /// The first attempt that is answered with 200; nil for a host that is down.
    let answersAt: Int?
}

struct Event {
    let id: Int
    let topic: String
    let body: [UInt8]
}

enum Outcome {
    case delivered(attempts: Int)
    case abandoned
}

final class DeliveryLog {
    private let lock = NSLock()
    private var delivered = 0
    private var abandoned = 0
    private var attempts = 0
    private let open = DispatchGroup()

    func opened() { open.enter() }

    func closed(_ outcome: Outcome) {
        lock.lock()
        switch outcome {
        case .delivered(let count):
            delivered += 1
            attempts += count
        case .abandoned:
            abandoned += 1
        }
        lock.unlock()
        open.leave()
    }

    func waitUntilSettled() { open.wait() }

    var summary: String {
        lock.lock()
        defer { lock.unlock() }
        return "delivered=\(delivered) abandoned=\(abandoned) attempts=\(attempts)"
    }
}

/// Delivers one event; repeats with doubled pauses until it is accepted or the limit is reached.
final class Delivery {
    private let event: Event
    private let endpoint: Endpoint
    private let log: DeliveryLog
    private let queue: DispatchQueue
    private var attempt = 0
    private var pause = 4
    private var responses: [Int] = []
    private let limit = 8

    init(event: Event, endpoint: Endpoint, log: DeliveryLog, queue: DispatchQueue) {
        self.event = event
        self.endpoint = endpoint
        self.log = log
        self.queue = queue
    }

    func schedule() {
        queue.asyncAfter(deadline: .now() + .milliseconds(pause)) {
            self.attempt += 1
            let status = self.post()
            self.responses.append(status)
            if status == 200 {
                self.log.closed(.delivered(attempts: self.attempt))
            } else if self.attempt == self.limit {
                self.log.closed(.abandoned)
            } else {
                self.pause *= 2
                self.schedule()
            }
        }
    }

    private func post() -> Int {
        let signature = event.body.reduce(UInt32(event.id)) { ($0 << 5) &- $0 &+ UInt32($1) }
        guard let answersAt = endpoint.answersAt else { return 503 }
        if signature == .max { return 400 }
        return attempt >= answersAt ? 200 : 429
    }
}

final class Dispatcher {
    private let queue = DispatchQueue(label: "webhooks")
    private let endpoints: [Endpoint]
    let log = DeliveryLog()

    init(endpoints: [Endpoint]) {
        self.endpoints = endpoints
    }

    func publish(_ event: Event) {
        let endpoint = endpoints[event.id % endpoints.count]
        log.opened()
        Delivery(event: event, endpoint: endpoint, log: log, queue: queue).schedule()
    }

    func settle() {
        log.waitUntilSettled()
        queue.sync {}
    }
}

var endpoints: [Endpoint] = (0..<12).map {
    Endpoint(url: "https://hooks.example/\($0)", answersAt: 1 + $0 % 4)
}
endpoints.insert(Endpoint(url: "https://gone.example/in", answersAt: nil), at: 7)

let dispatcher = Dispatcher(endpoints: endpoints)
for minute in 0..<26 {
    for slot in 0..<10 {
        let id = minute * 10 + slot
        dispatcher.publish(Event(id: id, topic: slot % 2 == 0 ? "order.paid" : "order.sent",
                                 body: (0..<48).map { UInt8(($0 * 5 + id) & 0xff) }))
    }
    usleep(20_000)
}
dispatcher.settle()
usleep(20_000)
print(dispatcher.log.summary)
