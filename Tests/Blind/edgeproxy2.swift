import Foundation

struct InboundRequest: Sendable {
    let id: Int
    let path: String
}

final class AccessRecord: Sendable {
    let id: Int
    let status: Int
    let body: [UInt8]

    init(id: Int, status: Int, body: [UInt8]) {
        self.id = id
        self.status = status
        self.body = body
    }
}

struct PageCache: Sendable {
    let pages: [String: String]

    func render(_ path: String) -> (status: Int, body: [UInt8]) {
        guard let page = pages[path] else {
            return (404, Array("not found".utf8))
        }
        var body: [UInt8] = []
        body.reserveCapacity(2048)
        while body.count < 1500 {
            body.append(contentsOf: page.utf8)
        }
        return (200, body)
    }
}

actor Counters {
    private(set) var requests = 0
    private(set) var bytes = 0
    private(set) var failures = 0

    func note(status: Int, size: Int) {
        requests += 1
        bytes += size
        if status >= 400 { failures += 1 }
    }
}

final class EdgeServer: Sendable {
    private let cache: PageCache
    private let counters: Counters

    init(cache: PageCache, counters: Counters) {
        self.cache = cache
        self.counters = counters
    }

    func run(_ listener: AsyncStream<InboundRequest>) async {
        await withTaskGroup(of: AccessRecord.self) { group in
            for await request in listener {
                group.addTask {
                    await self.handle(request)
                }
            }
        }
    }

    private func handle(_ request: InboundRequest) async -> AccessRecord {
        let (status, body) = cache.render(request.path)
        try? await Task.sleep(for: .milliseconds(3))
        await counters.note(status: status, size: body.count)
        return AccessRecord(id: request.id, status: status, body: body)
    }
}

@main
struct Edge {
    static func main() async throws {
        let cache = PageCache(pages: [
            "/": "<html><body>welcome</body></html>",
            "/health": "{\"up\":true}",
            "/assets/app.css": "body { margin: 0; font: 14px sans-serif }",
        ])
        let counters = Counters()
        let server = EdgeServer(cache: cache, counters: counters)
        let (listener, inbound) = AsyncStream.makeStream(of: InboundRequest.self)
        Task { await server.run(listener) }

        let paths = ["/", "/health", "/assets/app.css", "/favicon.ico"]
        for id in 0..<240 {
            inbound.yield(InboundRequest(id: id, path: paths[id % paths.count]))
            if id % 8 == 7 { try await Task.sleep(for: .milliseconds(25)) }
        }
        while await counters.requests < 240 {
            try await Task.sleep(for: .milliseconds(10))
        }
        try await Task.sleep(for: .milliseconds(100))
        print("served \(await counters.requests), failures \(await counters.failures), bytes \(await counters.bytes)")
        withExtendedLifetime(inbound) {}
    }
}
