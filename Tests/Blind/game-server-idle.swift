import Foundation

enum Packet: Sendable {
    case move(dx: Int, dy: Int)
    case chat(String)
}

final class Switchboard: @unchecked Sendable {
    private let lock = NSLock()
    private var links: [Int: AsyncStream<Packet>.Continuation] = [:]

    func connect(_ peer: Int) -> AsyncStream<Packet> {
        AsyncStream { continuation in
            lock.lock()
            links[peer] = continuation
            lock.unlock()
        }
    }

    func deliver(_ packet: Packet, to peer: Int) {
        lock.lock()
        let link = links[peer]
        lock.unlock()
        link?.yield(packet)
    }

    func hangUp(_ peer: Int) {
        lock.lock()
        let link = links.removeValue(forKey: peer)
        lock.unlock()
        link?.finish()
    }
}

actor PlayerSession {
    let peer: Int
    private let inbox: AsyncStream<Packet>
    private var position = (x: 0, y: 0)
    private var said: [String] = []
    private(set) var lastRound = 0

    init(peer: Int, inbox: AsyncStream<Packet>, round: Int) {
        self.peer = peer
        self.inbox = inbox
        lastRound = round
    }

    func serve() async {
        for await packet in inbox {
            switch packet {
            case .move(let dx, let dy): position = (position.x + dx, position.y + dy)
            case .chat(let text): said.append(text)
            }
        }
    }

    func touch(_ round: Int) { lastRound = round }
    var distance: Int { abs(position.x) + abs(position.y) }
}

actor GameServer {
    private let switchboard: Switchboard
    private var sessions: [Int: PlayerSession] = [:]
    private(set) var dropped = 0
    private(set) var quits = 0
    nonisolated let arrivals: AsyncStream<PlayerSession>
    private let door: AsyncStream<PlayerSession>.Continuation

    init(switchboard: Switchboard) {
        self.switchboard = switchboard
        (arrivals, door) = AsyncStream.makeStream(of: PlayerSession.self)
    }

    nonisolated func run() async {
        await withDiscardingTaskGroup { group in
            for await session in arrivals {
                group.addTask {
                    await session.serve()
                }
            }
        }
    }

    func welcome(_ peer: Int, round: Int) {
        let session = PlayerSession(peer: peer, inbox: switchboard.connect(peer), round: round)
        sessions[peer] = session
        door.yield(session)
    }

    func send(_ packet: Packet, from peer: Int, round: Int) async {
        guard let session = sessions[peer] else { return }
        await session.touch(round)
        switchboard.deliver(packet, to: peer)
    }

    func quit(_ peer: Int) {
        guard sessions.removeValue(forKey: peer) != nil else { return }
        switchboard.hangUp(peer)
        quits += 1
    }

    func dropIdle(since round: Int) async {
        for (peer, session) in sessions {
            if await session.lastRound < round {
                sessions[peer] = nil
                dropped += 1
            }
        }
    }

    func standings() async -> [String] {
        var lines: [String] = []
        for (peer, session) in sessions.sorted(by: { $0.key < $1.key }) {
            lines.append("p\(peer)=\(await session.distance)")
        }
        return lines
    }
}

let server = GameServer(switchboard: Switchboard())
let listener = Task { await server.run() }

for round in 1...16 {
    if round <= 10 {
        for seat in 0..<4 { await server.welcome(round * 10 + seat, round: round) }
    }
    for joined in 1...10 where joined <= round {
        for seat in 0..<4 {
            let peer = joined * 10 + seat
            if peer % 7 == 5 && round > joined + 1 { continue }
            await server.send(.move(dx: seat + 1, dy: -joined), from: peer, round: round)
            if round - joined >= 4 && joined < 10 && peer % 7 != 5 { await server.quit(peer) }
        }
    }
    await server.dropIdle(since: round - 3)
    try await Task.sleep(for: .milliseconds(20))
}
for round in 17...36 {
    for seat in 0..<4 { await server.send(.move(dx: 1, dy: seat), from: 100 + seat, round: round) }
    await server.dropIdle(since: round - 3)
    try await Task.sleep(for: .milliseconds(15))
}
print("quit \(await server.quits), idle \(await server.dropped), playing \(await server.standings())")
