import Foundation

struct LockKey: Hashable, Sendable {
    let space: String
    let id: Int
}

actor LockServer {
    private var deadlines: [LockKey: ContinuousClock.Instant] = [:]
    private var owners: [LockKey: String] = [:]
    private(set) var grants = 0
    private(set) var lost = 0

    func grant(_ key: LockKey, to owner: String, for span: Duration) -> Bool {
        guard owners[key] == nil else { return false }
        owners[key] = owner
        deadlines[key] = .now + span
        grants += 1
        return true
    }

    func extend(_ key: LockKey, owner: String, for span: Duration) -> Bool {
        guard owners[key] == owner else {
            lost += 1
            return false
        }
        deadlines[key] = .now + span
        return true
    }

    func drop(_ key: LockKey, owner: String) {
        guard owners[key] == owner else { return }
        owners[key] = nil
        deadlines[key] = nil
    }

    var held: Int { owners.count }
}

/// A held lock whose deadline is moved on in the background until it is released.
final class LockLease: @unchecked Sendable {
    let key: LockKey
    let owner: String
    private let server: LockServer
    private var extensions = 0
    private var renewal: Task<Void, Never>?

    init(key: LockKey, owner: String, server: LockServer) {
        self.key = key
        self.owner = owner
        self.server = server
        renewal = Task {
            while true {
                do {
                    try await Task.sleep(for: .milliseconds(9))
                } catch {
                    return
                }
                guard await self.server.extend(self.key, owner: self.owner, for: .milliseconds(30)) else { return }
                self.extensions += 1
            }
        }
    }

    func release() async {
        renewal?.cancel()
        await renewal?.value
        renewal = nil
        await server.drop(key, owner: owner)
    }
}

struct LockClient: Sendable {
    let owner: String
    let server: LockServer

    func acquire(_ key: LockKey) async -> LockLease? {
        guard await server.grant(key, to: owner, for: .milliseconds(30)) else { return nil }
        return LockLease(key: key, owner: owner, server: server)
    }
}

enum Chore: Sendable {
    case thumbnail(Int)
    case reindex(Int)

    var key: LockKey {
        switch self {
        case .thumbnail(let id): return LockKey(space: "thumb", id: id)
        case .reindex(let id): return LockKey(space: "index", id: id)
        }
    }

    var steps: Int {
        switch self {
        case .thumbnail(let id): return 1 + id % 8
        case .reindex(let id): return 90 + id % 40
        }
    }
}

func perform(_ chore: Chore, server: LockServer) async -> Int {
    let client = LockClient(owner: "worker-\(chore.key.space)-\(chore.key.id)", server: server)
    guard let lease = await client.acquire(chore.key) else { return 0 }
    var hash = chore.key.id
    for step in 0..<chore.steps {
        for _ in 0..<500 { hash = (hash &* 1103515245 &+ 12345 &+ step) & 0x7fff_ffff }
        try? await Task.sleep(for: .milliseconds(6))
    }
    await lease.release()
    return hash & 0xff
}

@main
struct Maintenance {
    static func main() async throws {
        let server = LockServer()
        let leader = LockClient(owner: "leader", server: server)
        var standing: [LockLease] = []
        for id in 0..<4 {
            if let lease = await leader.acquire(LockKey(space: "partition", id: id)) {
                standing.append(lease)
            }
        }

        var total = 0
        await withTaskGroup(of: Int.self) { group in
            for tick in 0..<20 {
                for slot in 0..<10 {
                    let id = tick * 10 + slot
                    let chore: Chore = id % 20 == 11 ? .reindex(id) : .thumbnail(id)
                    group.addTask { await perform(chore, server: server) }
                }
                try? await Task.sleep(for: .milliseconds(25))
            }
            for await part in group { total += part }
        }
        let heldByLeader = await server.held
        for lease in standing { await lease.release() }
        standing.removeAll()
        print("grants=\(await server.grants) lost=\(await server.lost) total=\(total)")
        print("held before shutdown=\(heldByLeader) after=\(await server.held)")
    }
}
