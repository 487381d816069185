import Foundation

struct Endpoint {
    let name: String
    let url: String
    let strictness: UInt32
}

final class Delivery {
    let id: Int
    let endpoint: Endpoint
    let body: String
    var attempts = 0

    init(id: Int, endpoint: Endpoint, body: String) {
        self.id = id
        self.endpoint = endpoint
        self.body = body
    }
}

enum Reply {
    case accepted
    case busy
    case rejected(Int)
}

struct Gateway {
    private var state: UInt32 = 0x1234_5678

    mutating func send(_ delivery: Delivery) -> Reply {
        state ^= state << 13
        state ^= state >> 17
        state ^= state << 5
        let roll = state % 100
        if roll < delivery.endpoint.strictness { return .rejected(422) }
        if roll < delivery.endpoint.strictness + 25 { return .busy }
        return .accepted
    }
}

final class Outbox {
    private var open: [Int: Delivery] = [:]
    private var due: [Int] = []
    private var nextID = 1
    private(set) var delivered = 0
    private(set) var failed = 0
    private(set) var statusCodes: [Int: Int] = [:]

    func post(_ event: String, to endpoint: Endpoint) {
        let body = "{\"event\":\"\(event)\",\"to\":\"\(endpoint.url)\",\"seq\":\(nextID)}"
        let delivery = Delivery(id: nextID, endpoint: endpoint, body: body)
        open[delivery.id] = delivery
        due.append(delivery.id)
        nextID += 1
    }

    func flush(through gateway: inout Gateway) {
        let batch = due
        due.removeAll(keepingCapacity: true)
        for id in batch {
            guard let delivery = open[id] else { continue }
            delivery.attempts += 1
            switch gateway.send(delivery) {
            case .accepted:
                open[id] = nil
                delivered += 1
            case .busy:
                if delivery.attempts < 4 {
                    due.append(id)
                } else {
                    failed += 1
                }
            case .rejected(let code):
                failed += 1
                statusCodes[code, default: 0] += 1
            }
        }
    }

    var hasWork: Bool { !due.isEmpty }
}

let endpoints = [
    Endpoint(name: "shop", url: "https://shop.example/hooks", strictness: 4),
    Endpoint(name: "crm", url: "https://crm.example/in", strictness: 12),
    Endpoint(name: "stock", url: "https://stock.example/events", strictness: 30),
]
let events = ["order.created", "order.paid", "order.shipped", "refund.issued"]

let outbox = Outbox()
var gateway = Gateway()

for round in 0..<400 {
    for (index, endpoint) in endpoints.enumerated() {
        outbox.post(events[(round + index) % events.count], to: endpoint)
    }
    outbox.flush(through: &gateway)
    if round % 4 == 0 { usleep(1000) }
}
while outbox.hasWork {
    outbox.flush(through: &gateway)
}

print("delivered \(outbox.delivered), failed \(outbox.failed)")
for (code, times) in outbox.statusCodes.sorted(by: { $0.key < $1.key }) {
    print("status \(code): \(times)")
}
