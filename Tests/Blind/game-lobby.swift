import Foundation

protocol TickListener: AnyObject { func tick(_ n: Int) }

final class Clock {
    private var listeners: [TickListener] = []
    private(set) var now = 0
    func add(_ l: TickListener) { listeners.append(l) }
    func remove(_ l: TickListener) { listeners.removeAll { $0 === l } }
    func advance() {
        now += 1
        for l in listeners { l.tick(now) }
    }
}

final class Outbox {
    private var lines: [String] = []
    func put(_ s: String) { lines.append(s) }
    func flush() -> Int { defer { lines.removeAll() }; return lines.count }
}

final class PlayerSession: TickListener {
    let player: Int
    let outbox = Outbox()
    private(set) var idle = 0
    private(set) var closed = false
    init(player: Int) { self.player = player }
    func act(_ s: String) { idle = 0; outbox.put(s) }
    func tick(_ n: Int) { if !closed { idle += 1 } }
    func close() -> Int {
        closed = true
        return outbox.flush()
    }
}

final class Lobby {
    let clock = Clock()
    private var sessions: [Int: PlayerSession] = [:]
    private(set) var ended = 0
    private(set) var expired = 0
    private(set) var sent = 0

    func join(_ player: Int) {
        let s = PlayerSession(player: player)
        sessions[player] = s
        clock.add(s)
    }
    func act(_ player: Int) { sessions[player]?.act("player \(player) moves at time \(clock.now)") }
    func end(_ player: Int) {
        guard let s = sessions.removeValue(forKey: player) else { return }
        clock.remove(s)
        sent += s.close()
        ended += 1
    }
    func expire(after limit: Int) {
        for (player, s) in sessions where s.idle >= limit {
            sent += s.close()
            sessions[player] = nil
            expired += 1
        }
    }
    var open: Int { sessions.count }
}

let lobby = Lobby()
var player = 0
for _ in 0..<20 {
    let first = player + 1
    for _ in 0..<16 { player += 1; lobby.join(player) }
    for step in 0..<6 {
        // every fourth player loses the connection and does nothing any more
        for p in first...player where p % 4 != 0 { lobby.act(p) }
        lobby.clock.advance()
        if step == 5 { for p in first...player where p % 4 != 0 { lobby.end(p) } }
    }
    lobby.expire(after: 6)
}
print("ended \(lobby.ended) expired \(lobby.expired) open \(lobby.open) sent \(lobby.sent)")
