import Foundation

// Request/response client for sensors behind a lossy radio modem. A reply is matched by its id;
// a timer wheel fails the calls whose reply does not arrive in time.

enum CallOutcome { case waiting, answered(Int), timedOut }

struct Request: Codable {
    let id: Int
    let node: Int
    let register: String
    let arguments: [Int]
}

struct Reply: Codable {
    let id: Int
    let value: Int
}

final class PendingCall {
    let request: Request
    let sentAt: Int
    private(set) var outcome = CallOutcome.waiting
    private let wire: Data

    init(request: Request, wire: Data, sentAt: Int) {
        self.request = request
        self.wire = wire
        self.sentAt = sentAt
    }

    var size: Int { wire.count }

    func finish(_ outcome: CallOutcome) -> Bool {
        guard case .waiting = self.outcome else { return false }
        self.outcome = outcome
        return true
    }
}

actor RadioClient {
    private var pending: [Int: PendingCall] = [:]
    private var wheel: [[Int]]
    private var now = 0
    private var nextID = 1
    private let encoder = JSONEncoder()
    private let decoder = JSONDecoder()
    private(set) var answered = 0
    private(set) var timedOut = 0
    private(set) var late = 0
    private(set) var wireBytes = 0

    init(timeoutTicks: Int) {
        wheel = Array(repeating: [], count: timeoutTicks)
    }

    func send(node: Int, register: String, arguments: [Int]) throws -> Data {
        let request = Request(id: nextID, node: node, register: register, arguments: arguments)
        nextID += 1
        let wire = try encoder.encode(request)
        let call = PendingCall(request: request, wire: wire, sentAt: now)
        pending[request.id] = call
        wheel[now % wheel.count].append(request.id)
        wireBytes += call.size
        return wire
    }

    func receive(_ data: Data) throws {
        let reply = try decoder.decode(Reply.self, from: data)
        guard let call = pending[reply.id], call.finish(.answered(reply.value)) else {
            late += 1
            return
        }
        pending[reply.id] = nil
        answered += 1
    }

    func advance() {
        now += 1
        let slot = now % wheel.count
        for id in wheel[slot] {
            guard let call = pending[id] else { continue }
            if call.finish(.timedOut) { timedOut += 1 }
        }
        wheel[slot].removeAll(keepingCapacity: true)
    }

    var report: String {
        "sent \(nextID - 1), answered \(answered), timed out \(timedOut), late \(late), \(wireBytes) bytes"
    }
}

struct Modem {
    private let decoder = JSONDecoder()
    private let encoder = JSONEncoder()

    /// Nodes with an even id have a good antenna; the odd ones are not reachable in this weather.
    func transmit(_ wire: Data) throws -> Data? {
        let request = try decoder.decode(Request.self, from: wire)
        guard request.id % 2 == 0 else { return nil }
        let value = request.arguments.reduce(request.node) { ($0 &* 33) ^ $1 } & 0xffff
        return try encoder.encode(Reply(id: request.id, value: value))
    }
}

@main
struct RadioPoller {
    static let client = RadioClient(timeoutTicks: 6)

    static func main() async throws {
        let modem = Modem()
        let registers = ["battery", "flow", "level", "rssi", "uptime"]
        for tick in 0..<120 {
            var replies: [Data] = []
            for node in 0..<10 {
                let wire = try await client.send(node: node, register: registers[(tick + node) % 5],
                                                 arguments: [tick, node * 3, tick ^ node])
                if let reply = try modem.transmit(wire) { replies.append(reply) }
            }
            for reply in replies { try await client.receive(reply) }
            await client.advance()
            try await Task.sleep(nanoseconds: 7_000_000)
        }
        for _ in 0..<8 { await client.advance() }
        print(await client.report)
    }
}
