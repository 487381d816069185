import Foundation

final class TraceContext: @unchecked Sendable {
    @TaskLocal static var current: TraceContext?

    let traceID: Int
    let user: String
    private let lock = NSLock()
    private var notes: [String] = []

    init(traceID: Int, user: String) {
        self.traceID = traceID
        self.user = user
    }

    func note(_ text: String) {
        lock.withLock { notes.append("[\(traceID)] \(text)") }
    }

    var noteCount: Int { lock.withLock { notes.count } }
}

struct Fare: Sendable {
    let route: String
    var cents: Int
    var version: Int
}

actor FareCache {
    private var fares: [String: Fare] = [:]
    private var refreshers: [String: Task<Void, Never>] = [:]
    private(set) var hits = 0
    private(set) var misses = 0

    func fare(for route: String) -> Fare {
        if let fare = fares[route] {
            hits += 1
            TraceContext.current?.note("hit \(route)")
            return fare
        }
        misses += 1
        TraceContext.current?.note("miss \(route)")
        let fare = Fare(route: route, cents: price(route, version: 0), version: 0)
        fares[route] = fare
        refreshers[route] = Task.detached(priority: .utility) { [weak self] in
            while !Task.isCancelled {
                try? await Task.sleep(for: .milliseconds(90))
                await self?.refresh(route)
            }
        }
        return fare
    }

    private func refresh(_ route: String) {
        guard var fare = fares[route] else { return }
        fare.version += 1
        fare.cents = price(route, version: fare.version)
        fares[route] = fare
    }

    private func price(_ route: String, version: Int) -> Int {
        var hash: UInt32 = 2_166_136_261
        for byte in "\(route)#\(version)".utf8 {
            hash = (hash ^ UInt32(byte)) &* 16_777_619
        }
        return 1_900 + Int(hash % 20_000)
    }

    func shutdown() async {
        for task in refreshers.values {
            task.cancel()
        }
        for task in refreshers.values {
            await task.value
        }
        refreshers.removeAll()
    }

    var running: Int { refreshers.count }
}

actor Audit {
    private(set) var requests = 0
    private(set) var notes = 0

    func record(_ context: TraceContext) {
        requests += 1
        notes += context.noteCount
    }
}

func handle(_ id: Int, cache: FareCache, audit: Audit) async -> Int {
    let context = TraceContext(traceID: id, user: "user-\(id % 50)")
    return await TraceContext.$current.withValue(context) {
        let out = await cache.fare(for: "route-\(id % 40)")
        let back = await cache.fare(for: "route-\((id * 3) % 40)")
        await audit.record(context)
        return out.cents + back.cents
    }
}

@main
struct FareAPI {
    static func main() async throws {
        let cache = FareCache()
        let audit = Audit()
        var priced = 0
        for batch in 0..<10 {
            await withTaskGroup(of: Int.self) { group in
                for n in 0..<40 {
                    group.addTask { await handle(batch * 40 + n, cache: cache, audit: audit) }
                }
                for await cents in group where cents > 0 {
                    priced += 1
                }
            }
            try await Task.sleep(for: .milliseconds(80))
        }
        let running = await cache.running
        await cache.shutdown()
        print("requests \(await audit.requests), notes \(await audit.notes), priced \(priced), refreshers \(running)")
    }
}
