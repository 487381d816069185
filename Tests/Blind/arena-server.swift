import Foundation

final class Loadout {
    let weapon: String
    var ammo: Int
    init(weapon: String, ammo: Int) {
        self.weapon = weapon
        self.ammo = ammo
    }
}

final class PlayerSession {
    enum State { case playing, left, kicked }
    let ticket: String
    var state = State.playing
    var score = 0
    private let loadout: Loadout

    init(ticket: String, weapon: String) {
        self.ticket = ticket
        self.loadout = Loadout(weapon: weapon, ammo: 30)
    }

    func fire() {
        guard loadout.ammo > 0 else { return }
        loadout.ammo -= 1
        score += loadout.weapon.count
    }
}

final class ArenaServer {
    static let shared = ArenaServer()
    private var sessions: [String: PlayerSession] = [:]
    private var slots: Set<Int> = []
    private(set) var scoreboard: [Int] = [0, 0, 0]
    private var serial = 0

    func join(slot: Int) -> String {
        serial += 1
        let ticket = "t\(serial)"
        let weapon = slot % 2 == 0 ? "rifle" : "bow"
        sessions[ticket] = PlayerSession(ticket: ticket, weapon: weapon)
        slots.insert(slot)
        return ticket
    }

    func shoot(_ ticket: String) {
        sessions[ticket]?.fire()
    }

    func leave(_ ticket: String, slot: Int) {
        guard let session = sessions.removeValue(forKey: ticket) else { return }
        session.state = .left
        scoreboard[0] = max(scoreboard[0], session.score)
        slots.remove(slot)
    }

    func kick(_ ticket: String, slot: Int) {
        guard let session = sessions[ticket] else { return }
        session.state = .kicked
        scoreboard[1] += 1
        slots.remove(slot)
    }

    func report() -> String {
        let playing = sessions.values.filter { $0.state == .playing }.count
        return "playing \(playing) slots \(slots.count) kicked \(scoreboard[1]) known \(sessions.count)"
    }
}

let arena = ArenaServer.shared
for game in 0..<20 {
    let tickets = (0..<15).map { arena.join(slot: $0) }
    for shot in 0..<6 {
        for ticket in tickets where (shot + game) % 2 == 0 { arena.shoot(ticket) }
    }
    for (slot, ticket) in tickets.enumerated() {
        // idle players are thrown out at the end of the game
        if slot % 5 < 3 {
            arena.kick(ticket, slot: slot)
        } else {
            arena.leave(ticket, slot: slot)
        }
    }
}
print(arena.report())
