import Foundation

final class Outbox: @unchecked Sendable {
    private let lock = NSLock()
    private var frames: [String] = []
    func push(_ frame: String) {
        lock.withLock {
            frames.append(frame)
            if frames.count > 10 { frames.removeFirst() }
        }
    }
    var depth: Int { lock.withLock { frames.count } }
}

actor LiveConnection {
    nonisolated let id: Int
    private let outbox = Outbox()
    private var heartbeat: Task<Void, Never>?
    private var missed = 0
    private var beats = 0

    init(id: Int) { self.id = id }

    func open() {
        heartbeat = Task { [weak self] in
            while !Task.isCancelled {
                try? await Task.sleep(nanoseconds: 30_000_000)
                await self?.beat()
            }
        }
    }

    func close() {
        heartbeat?.cancel()
        heartbeat = nil
    }

    func send(_ text: String) { outbox.push(text) }

    private func beat() {
        beats += 1
        outbox.push("ping \(beats)")
        missed = 0
    }

    var queued: Int { outbox.depth }
}

actor ConnectionTable {
    private var open: [Int: LiveConnection] = [:]
    private var nextID = 0

    func accept() async -> LiveConnection {
        let connection = LiveConnection(id: nextID)
        nextID += 1
        open[connection.id] = connection
        await connection.open()
        return connection
    }

    func hangUp(_ connection: LiveConnection) async {
        open.removeValue(forKey: connection.id)
        await connection.close()
    }

    func broadcast(_ text: String) async {
        for connection in open.values { await connection.send(text) }
    }

    var count: Int { open.count }
    var accepted: Int { nextID }
}

@main
struct HeartbeatApp {
    static let table = ConnectionTable()

    static func main() async {
        var kept: [LiveConnection] = []
        for wave in 0..<25 {
            var visitors: [LiveConnection] = []
            for _ in 0..<16 { visitors.append(await table.accept()) }
            await table.broadcast("wave \(wave)")
            try? await Task.sleep(nanoseconds: 35_000_000)
            for connection in visitors {
                if connection.id % 10 == 0 || wave == 24 {
                    kept.append(connection)
                } else {
                    await connection.send("bye")
                    await table.hangUp(connection)
                }
            }
        }
        try? await Task.sleep(nanoseconds: 200_000_000)
        var queued = 0
        for connection in kept { queued += await connection.queued }
        print("accepted \(await table.accepted) open \(await table.count) queued \(queued > 0)")
    }
}
