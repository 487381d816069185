import Foundation

struct Inbound: Sendable {
    let id: Int
    let path: String
}

final class ExchangeRecord: Sendable {
    let id: Int
    let status: Int
    let body: [UInt8]

    init(id: Int, status: Int, body: [UInt8]) {
        self.id = id
        self.status = status
        self.body = body
    }
}

struct Router: Sendable {
    let pages: [String: String]

    func respond(to inbound: Inbound) -> ExchangeRecord {
        guard let page = pages[inbound.path] else {
            return ExchangeRecord(id: inbound.id, status: 404, body: Array("not found".utf8))
        }
        var body: [UInt8] = []
        body.reserveCapacity(2048)
        while body.count < 1500 {
            body.append(contentsOf: page.utf8)
        }
        return ExchangeRecord(id: inbound.id, status: 200, body: body)
    }
}

actor TrafficLog {
    private(set) var requests = 0
    private(set) var bytes = 0
    private(set) var failures = 0

    func note(_ record: ExchangeRecord) {
        requests += 1
        bytes += record.body.count
        if record.status >= 400 { failures += 1 }
    }
}

struct Server: Sendable {
    let router: Router
    let log: TrafficLog
    let limit: Int

    func run(_ listener: AsyncStream<Inbound>) async -> Int {
        await withTaskGroup(of: ExchangeRecord.self, returning: Int.self) { group in
            var inFlight = 0
            var largest = 0
            for await inbound in listener {
                if inFlight >= limit, let record = await group.next() {
                    largest = max(largest, record.body.count)
                    inFlight -= 1
                }
                inFlight += 1
                group.addTask {
                    try? await Task.sleep(for: .milliseconds(2))
                    let record = router.respond(to: inbound)
                    await log.note(record)
                    return record
                }
            }
            for await record in group {
                largest = max(largest, record.body.count)
            }
            return largest
        }
    }
}

@main
struct Proxy {
    static func main() async throws {
        let router = Router(pages: [
            "/": "<html><body>welcome</body></html>",
            "/status": "{\"up\":true}",
            "/assets/app.js": "export const start = () => render();",
        ])
        let log = TrafficLog()
        let server = Server(router: router, log: log, limit: 8)
        let (listener, inbound) = AsyncStream.makeStream(of: Inbound.self)
        let serving = Task { await server.run(listener) }

        let paths = ["/", "/status", "/assets/app.js", "/missing"]
        for id in 0..<280 {
            inbound.yield(Inbound(id: id, path: paths[id % paths.count]))
            if id % 10 == 9 { try await Task.sleep(for: .milliseconds(25)) }
        }
        while await log.requests < 280 {
            try await Task.sleep(for: .milliseconds(10))
        }
        inbound.finish()
        let largest = await serving.value
        print("served \(await log.requests), failures \(await log.failures), largest body \(largest)")
    }
}
