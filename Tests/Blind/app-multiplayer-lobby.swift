import Foundation

final class Loadout: @unchecked Sendable {
    let weapons: [String]
    let skin: Int
    init(seed: Int) {
        weapons = ["bow \(seed % 5)", "axe \(seed % 3)"]
        skin = seed % 12
    }
}

final class Player: @unchecked Sendable {
    let id: Int
    var name: String
    let loadout: Loadout
    var wins = 0
    var rating = 1000
    init(id: Int, name: String) {
        self.id = id
        self.name = name
        loadout = Loadout(seed: id)
    }
}

final class Match: @unchecked Sendable {
    let number: Int
    let players: [Player]
    init(number: Int, players: [Player]) {
        self.number = number
        self.players = players
    }
    func play() -> Player {
        var best = players[0]
        var bestScore = -1
        for player in players {
            let score = (player.rating * 7 + number * 31 + player.loadout.skin * 13) % 97
            if score > bestScore {
                best = player
                bestScore = score
            }
        }
        return best
    }
}

actor Lobby {
    private var players: [Int: Player] = [:]
    private var byName: [String: Player] = [:]
    private var queue: [Player] = []
    private var matches = 0
    private var refused = 0
    private var whispers = 0

    func join(id: Int, name: String) -> Bool {
        guard byName[name] == nil else {
            refused += 1
            return false
        }
        let player = Player(id: id, name: name)
        players[id] = player
        byName[name] = player
        return true
    }

    func rename(id: Int, to name: String) {
        guard let player = players[id], byName[name] == nil else { return }
        player.name = name
        byName[name] = player
    }

    func whisper(to name: String) {
        if let player = byName[name], players[player.id] != nil { whispers += 1 }
    }

    func enqueue(id: Int) {
        guard let player = players[id], !queue.contains(where: { $0 === player }) else { return }
        queue.append(player)
    }

    func makeMatch() -> Match? {
        guard queue.count >= 4 else { return nil }
        matches += 1
        let match = Match(number: matches, players: Array(queue.prefix(4)))
        queue.removeFirst(4)
        return match
    }

    func finish(_ match: Match, winner: Player) {
        winner.wins += 1
        for player in match.players { player.rating += player === winner ? 15 : -5 }
    }

    func leave(id: Int) {
        guard let player = players.removeValue(forKey: id) else { return }
        byName[player.name] = nil
        queue.removeAll { $0 === player }
    }

    func summary() -> String {
        "matches \(matches), refused \(refused), whispers \(whispers), online \(players.count)"
    }
}

struct Arena {
    let lobby: Lobby
    func run(until end: Date) async -> Int {
        var played = 0
        while Date() < end {
            if let match = await lobby.makeMatch() {
                let winner = match.play()
                await lobby.finish(match, winner: winner)
                played += 1
            } else {
                try? await Task.sleep(nanoseconds: 4_000_000)
            }
        }
        return played
    }
}

func evening() async {
    let lobby = Lobby()
    let arena = Arena(lobby: lobby)
    let played = Task { await arena.run(until: Date().addingTimeInterval(2.2)) }
    var online: [Int] = []
    for number in 0..<420 {
        if await lobby.join(id: number, name: "player\(number)") {
            online.append(number)
            if number % 6 == 1 { await lobby.rename(id: number, to: "xX_\(number)_Xx") }
        }
        for id in online.suffix(3) { await lobby.enqueue(id: id) }
        if let first = online.first { await lobby.whisper(to: "player\(first)") }
        if online.count > 20 {
            await lobby.leave(id: online.remove(at: number % 5))
        }
        try? await Task.sleep(nanoseconds: 4_000_000)
    }
    for id in online { await lobby.leave(id: id) }
    print("played \(await played.value)")
    print(await lobby.summary())
}

await evening()
