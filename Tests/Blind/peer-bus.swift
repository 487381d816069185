import Foundation

struct Message {
    let topic: String
    let sequence: Int
    let body: [UInt8]
}

typealias Handler = (Message) -> Void

/// Topic bus of the relay; every topic has an ordered list of handlers.
final class Bus {
    private var handlers: [String: [(owner: Int, handler: Handler)]] = [:]
    private(set) var routed = 0
    private(set) var unrouted = 0

    func subscribe(_ topic: String, owner: Int, _ handler: @escaping Handler) {
        handlers[topic, default: []].append((owner, handler))
    }

    func unsubscribe(_ topic: String, owner: Int) {
        guard var list = handlers[topic] else { return }
        list.removeAll { $0.owner == owner }
        handlers[topic] = list.isEmpty ? nil : list
    }

    func publish(_ message: Message) {
        guard let list = handlers[message.topic] else {
            unrouted += 1
            return
        }
        for entry in list {
            entry.handler(message)
            routed += 1
        }
    }
}

struct Metrics {
    let counter: UnsafeMutablePointer<Int>

    func counting(_ next: @escaping Handler) -> Handler {
        let counter = self.counter
        return { message in
            counter.pointee += message.body.count
            next(message)
        }
    }
}

enum Filters {
    /// Passes each sequence number only once.
    static func deduplicated(_ next: @escaping Handler) -> Handler {
        var last = -1
        return { message in
            guard message.sequence > last else { return }
            last = message.sequence
            next(message)
        }
    }

    static func limited(to size: Int, _ next: @escaping Handler) -> Handler {
        return { message in
            if message.body.count <= size { next(message) }
        }
    }
}

final class PeerSession {
    let id: Int
    private(set) var nickname: String
    private var inbox: [Int] = []
    private var checksum = 0
    private unowned let bus: Bus

    init(id: Int, nickname: String, bus: Bus) {
        self.id = id
        self.nickname = nickname
        self.bus = bus
    }

    var topic: String { "peer/\(id)/\(nickname)" }

    func open(metrics: Metrics) {
        let chain = metrics.counting(Filters.deduplicated(Filters.limited(to: 512, receive)))
        bus.subscribe(topic, owner: id, chain)
    }

    func rename(to name: String) {
        nickname = name
    }

    func close() -> Int {
        bus.unsubscribe(topic, owner: id)
        return checksum
    }

    private func receive(_ message: Message) {
        inbox.append(message.sequence)
        if inbox.count > 16 { inbox.removeFirst() }
        checksum = message.body.reduce(checksum) { ($0 &* 31 &+ Int($1)) & 0xffff }
    }
}

let bytesSeen = UnsafeMutablePointer<Int>.allocate(capacity: 1)
bytesSeen.initialize(to: 0)
let bus = Bus()
let metrics = Metrics(counter: bytesSeen)

func runShift(_ shift: Int, sessionsPerShift: Int) -> Int {
    var sessions: [PeerSession] = []
    for i in 0..<sessionsPerShift {
        let id = shift * sessionsPerShift + i
        let session = PeerSession(id: id, nickname: "guest\(id)", bus: bus)
        session.open(metrics: metrics)
        sessions.append(session)
    }
    for sequence in 0..<20 {
        for session in sessions {
            let body = (0..<(20 + session.id % 13)).map { UInt8(truncatingIfNeeded: $0 &* sequence) }
            bus.publish(Message(topic: session.topic, sequence: sequence, body: body))
        }
    }
    var sum = 0
    for (i, session) in sessions.enumerated() {
        if i % 4 == 1 { session.rename(to: "member\(session.id)") }
        sum &+= session.close()
    }
    return sum
}

var total = 0
for shift in 0..<40 {
    total &+= runShift(shift, sessionsPerShift: 10)
    usleep(12_000)
}
print("routed \(bus.routed) unrouted \(bus.unrouted) bytes \(bytesSeen.pointee) sum \(total)")
bytesSeen.deallocate()
