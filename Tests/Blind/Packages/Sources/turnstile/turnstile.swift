import AsyncHTTPClient
import Foundation
import Hummingbird
import Logging

/// One visitor of the museum's web site.
final class Visit: @unchecked Sendable {
    let token: String
    let began: ContinuousClock.Instant
    var rooms: [String] = []
    var lastSeen: ContinuousClock.Instant

    init(token: String, now: ContinuousClock.Instant) {
        self.token = token
        began = now
        lastSeen = now
    }
}

/// Visits end when nothing was heard from the visitor for a while.
actor VisitStore {
    private var visits: [String: Visit] = [:]
    private let idleLimit: Duration
    private var serial = 0
    private(set) var opened = 0

    init(idleLimit: Duration) { self.idleLimit = idleLimit }

    func enter(token: String?, room: String) -> (token: String, rooms: Int) {
        let now = ContinuousClock.now
        let visit = current(token, now: now) ?? begin(now)
        visit.lastSeen = now
        visit.rooms.append(room)
        return (visit.token, visit.rooms.count)
    }

    private func current(_ token: String?, now: ContinuousClock.Instant) -> Visit? {
        guard let token, let visit = visits[token] else { return nil }
        return now - visit.lastSeen < idleLimit ? visit : nil
    }

    private func begin(_ now: ContinuousClock.Instant) -> Visit {
        serial += 1
        opened += 1
        let visit = Visit(token: "v\(serial)-\(serial * 7919 % 10007)", now: now)
        visits[visit.token] = visit
        return visit
    }

    func leave(token: String) { visits.removeValue(forKey: token) }
}

struct RoomReply: ResponseCodable {
    let token: String
    let rooms: Int
}

func makeRouter(store: VisitStore) -> Router<BasicRequestContext> {
    let router = Router()
    router.get("rooms/:room") { request, context -> RoomReply in
        let room = try context.parameters.require("room")
        let known = request.uri.queryParameters.get("token")
        let (token, rooms) = await store.enter(token: known, room: room)
        return RoomReply(token: token, rooms: rooms)
    }
    router.get("exit/:token") { _, context -> HTTPResponse.Status in
        await store.leave(token: try context.parameters.require("token"))
        return .noContent
    }
    return router
}

@main
struct Turnstile {
    static let visitors = 800
    static let store = VisitStore(idleLimit: .milliseconds(400))

    static func main() async throws {
        var logger = Logger(label: "turnstile")
        logger.logLevel = .critical
        let (ports, opened) = AsyncStream.makeStream(of: Int.self)
        let app = Application(
            router: makeRouter(store: store),
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                opened.yield(channel.localAddress!.port!)
                opened.finish()
            },
            logger: logger
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do { try await app.run() } catch is CancellationError {}
            }
            group.addTask {
                for await port in ports {
                    try await crowd(base: "http://127.0.0.1:\(port)")
                }
            }
            try await group.next()
            group.cancelAll()
        }
        print("\(await store.opened) visits")
    }

    static func crowd(base: String) async throws {
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        let decoder = JSONDecoder()
        for visitor in 0..<visitors {
            let first = try await client.execute(HTTPClientRequest(url: "\(base)/rooms/hall"), timeout: .seconds(5))
            let body = try await first.body.collect(upTo: 4096)
            let reply = try decoder.decode(RoomReply.self, from: Data(body.readableBytesView))
            if visitor % 4 == 0 {
                let url = "\(base)/rooms/room-\(visitor % 30)?token=\(reply.token)"
                let second = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(5))
                _ = try await second.body.collect(upTo: 4096)
            }
        }
        // The museum is empty for a while before it closes.
        try await Task.sleep(for: .milliseconds(600))
        try await client.shutdown()
    }
}
