import Foundation

// Request/reply over a message bus: calls wait in a continuation until the
// answer with their correlation number arrives. The services are simulated.

struct Envelope: Sendable {
    let correlation: Int
    let service: String
    let payload: [UInt8]
}

final class Call: Sendable {
    let id: Int
    let service: String
    let arguments: [UInt8]

    init(id: Int, service: String, arguments: [UInt8]) {
        self.id = id
        self.service = service
        self.arguments = arguments
    }
}

enum ServiceError: Error { case unknownService, malformed }

protocol Service: Sendable {
    func handle(_ payload: [UInt8]) throws -> [UInt8]
}

struct SortService: Service {
    func handle(_ payload: [UInt8]) throws -> [UInt8] { payload.sorted() }
}

/// Run length coding; the argument must not be empty.
struct PackService: Service {
    func handle(_ payload: [UInt8]) throws -> [UInt8] {
        guard var last = payload.first else { throw ServiceError.malformed }
        var result: [UInt8] = []
        var run = 0
        for byte in payload {
            if byte == last, run < 255 {
                run += 1
            } else {
                result += [UInt8(run), last]
                last = byte
                run = 1
            }
        }
        return result + [UInt8(run), last]
    }
}

struct DigestService: Service {
    func handle(_ payload: [UInt8]) throws -> [UInt8] {
        var hash: UInt64 = 14_695_981_039_346_656_037
        for _ in 0..<20 {
            for byte in payload { hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211 }
        }
        return (0..<8).map { UInt8(truncatingIfNeeded: hash >> ($0 * 8)) }
    }
}

actor ServiceHost {
    private let services: [String: any Service] = ["sort": SortService(), "pack": PackService(), "digest": DigestService()]
    private(set) var handled = 0
    private(set) var failed = 0

    /// The answer, or nothing if the service could not handle the request.
    func answer(_ request: Envelope) -> Envelope? {
        do {
            guard let service = services[request.service] else { throw ServiceError.unknownService }
            let result = try service.handle(request.payload)
            handled += 1
            return Envelope(correlation: request.correlation, service: request.service, payload: result)
        } catch {
            failed += 1
            return nil
        }
    }
}

actor Broker {
    private var pending: [Int: CheckedContinuation<[UInt8], Never>] = [:]
    private let outgoing: AsyncStream<Envelope>.Continuation
    private(set) var delivered = 0

    init(outgoing: AsyncStream<Envelope>.Continuation) { self.outgoing = outgoing }

    func request(_ call: Call) async -> [UInt8] {
        await withCheckedContinuation { continuation in
            pending[call.id] = continuation
            outgoing.yield(Envelope(correlation: call.id, service: call.service, payload: call.arguments))
        }
    }

    func receive(_ reply: Envelope) {
        guard let continuation = pending.removeValue(forKey: reply.correlation) else { return }
        delivered += 1
        continuation.resume(returning: reply.payload)
    }
}

actor Results {
    private var count = 0
    private var bytes = 0
    private var perService: [String: Int] = [:]
    private var checksum: UInt64 = 0

    func record(_ call: Call, _ reply: [UInt8]) {
        count += 1
        bytes += reply.count
        perService[call.service, default: 0] += 1
        checksum = checksum &+ reply.reduce(UInt64(call.id)) { $0 &* 131 &+ UInt64($1) }
    }

    var total: Int { count }
    var summary: String {
        let services = perService.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        return "answers \(count) (\(services)), \(bytes) bytes, checksum \(checksum)"
    }
}

func arguments(for id: Int) -> [UInt8] {
    // The exporter sends an empty document now and then.
    if id % 24 == 7 { return [] }
    var value = UInt32(id) &* 2_654_435_761 | 1
    return (0..<(2_200 + id % 500)).map { _ in
        value ^= value << 13
        value ^= value >> 17
        value ^= value << 5
        return UInt8(value >> 24 & 7)
    }
}

@main
struct ReplyBroker {
    static func main() async throws {
        let (requests, outgoing) = AsyncStream.makeStream(of: Envelope.self)
        let broker = Broker(outgoing: outgoing)
        let host = ServiceHost()
        let results = Results()
        let services = ["sort", "pack", "digest"]

        let bus = Task {
            for await request in requests {
                if let reply = await host.answer(request) { await broker.receive(reply) }
            }
        }

        let calls = 1_200
        for id in 0..<calls {
            let call = Call(id: id, service: services[id % services.count], arguments: arguments(for: id))
            Task {
                let reply = await broker.request(call)
                await results.record(call, reply)
            }
            if id % 40 == 39 { try await Task.sleep(for: .milliseconds(11)) }
        }

        while await host.handled + host.failed < calls { try await Task.sleep(for: .milliseconds(5)) }
        while await results.total < host.handled { try await Task.sleep(for: .milliseconds(5)) }
        outgoing.finish()
        await bus.value
        print(await results.summary)
        print("handled \(await host.handled), failed \(await host.failed), delivered \(await broker.delivered)")
    }
}
