import Foundation

struct Envelope: Sendable {
    let room: String
    let from: String
    let body: String
}

final class LobbyPresence: @unchecked Sendable {
    let room: String
    private let lock = NSLock()
    private var lastSeen: [String: Int] = [:]
    private var clock = 0
    private var idleEvents = 0
    private var sweeper: Task<Void, Never>?

    init(room: String) {
        self.room = room
    }

    func activate(interval: Duration) {
        sweeper = Task {
            while !Task.isCancelled {
                self.sweep(idleAfter: 40)
                try? await Task.sleep(for: interval)
            }
        }
    }

    func close() {
        sweeper?.cancel()
        sweeper = nil
    }

    func touch(_ member: String) {
        lock.withLock {
            clock += 1
            lastSeen[member] = clock
        }
    }

    func leave(_ member: String) -> Int {
        lock.withLock {
            lastSeen[member] = nil
            return lastSeen.count
        }
    }

    private func sweep(idleAfter limit: Int) {
        lock.withLock {
            for (_, seen) in lastSeen where clock - seen > limit {
                idleEvents += 1
            }
        }
    }
}

actor LobbyServer {
    private var rooms: [String: LobbyPresence] = [:]
    private var heartbeat: Task<Void, Never>?
    private(set) var delivered = 0
    private(set) var beats = 0

    func start() {
        heartbeat = Task {
            while !Task.isCancelled {
                beats += 1
                try? await Task.sleep(for: .milliseconds(80))
            }
        }
    }

    func join(_ member: String, room: String) {
        if rooms[room] == nil {
            let presence = LobbyPresence(room: room)
            presence.activate(interval: .milliseconds(100))
            rooms[room] = presence
        }
        rooms[room]?.touch(member)
    }

    func post(_ envelope: Envelope) {
        rooms[envelope.room]?.touch(envelope.from)
        delivered += envelope.body.isEmpty ? 0 : 1
    }

    func part(_ member: String, room: String) {
        guard let presence = rooms[room], presence.leave(member) == 0 else { return }
        presence.close()
        rooms[room] = nil
    }

    func shutdown() async {
        for presence in rooms.values {
            presence.close()
        }
        rooms.removeAll()
        heartbeat?.cancel()
        await heartbeat?.value
        heartbeat = nil
    }

    var openRooms: Int { rooms.count }
}

@main
struct LobbyService {
    static func main() async throws {
        let server = LobbyServer()
        await server.start()
        for lobby in 0..<10 {
            await server.join("host", room: "lobby-\(lobby)")
        }
        for wave in 0..<5 {
            for slot in 0..<6 {
                let room = "duel-\(wave)-\(slot)"
                await server.join("red", room: room)
                await server.join("blue", room: room)
                for n in 0..<50 {
                    await server.post(Envelope(room: room, from: n % 2 == 0 ? "red" : "blue", body: "turn \(n)"))
                    await server.post(Envelope(room: "lobby-\(n % 10)", from: "host", body: "score \(n)"))
                }
                await server.part("red", room: room)
                await server.part("blue", room: room)
            }
            try await Task.sleep(for: .milliseconds(160))
        }
        let open = await server.openRooms
        let beats = await server.beats
        await server.shutdown()
        try await Task.sleep(for: .milliseconds(250))
        print("delivered \(await server.delivered), \(open) lobbies, heartbeat \(beats > 0 ? "ok" : "missing")")
    }
}
