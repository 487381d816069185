import Foundation

struct Dice {
    var state: UInt64
    mutating func roll(_ n: Int) -> Int {
        state = state &* 6364136223846793005 &+ 1442695040888963407
        return Int((state >> 33) % UInt64(n))
    }
}

enum Region: String, CaseIterable {
    case eu, us, asia
}

final class Player {
    let id: Int
    let name: String
    let region: Region
    var rating: Int
    var lastSeen: Int
    var roomNumber: Int?
    var inbox: [String] = []

    init(id: Int, region: Region, rating: Int, now: Int) {
        self.id = id
        self.name = "player-\(id)"
        self.region = region
        self.rating = rating
        self.lastSeen = now
    }
}

final class Room {
    let number: Int
    let capacity: Int
    private(set) var members: [Player] = []
    var startedAt: Int?

    init(number: Int, capacity: Int) {
        self.number = number
        self.capacity = capacity
    }

    var isFull: Bool { members.count >= capacity }

    func add(_ p: Player) {
        members.append(p)
        p.roomNumber = number
        broadcast("\(p.name) joined")
    }

    func remove(_ p: Player) {
        members.removeAll { $0 === p }
        p.roomNumber = nil
        broadcast("\(p.name) left")
    }

    func broadcast(_ text: String) {
        for m in members {
            if m.inbox.count >= 8 { m.inbox.removeFirst() }
            m.inbox.append(text)
        }
    }
}

final class Lobby {
    private var players: [Int: Player] = [:]
    private var byRegion: [Region: [Player]] = [:]
    private var rooms: [Int: Room] = [:]
    private var nextRoom = 1
    private let idleLimit = 25
    private(set) var matches = 0
    private(set) var timeouts = 0
    private(set) var departures = 0

    func join(_ player: Player, now: Int) {
        players[player.id] = player
        byRegion[player.region, default: []].append(player)
        seat(player)
    }

    private func seat(_ player: Player) {
        if let open = rooms.values.first(where: { !$0.isFull && $0.startedAt == nil }) {
            open.add(player)
            return
        }
        let room = Room(number: nextRoom, capacity: 4)
        nextRoom += 1
        rooms[room.number] = room
        room.add(player)
    }

    func touch(_ id: Int, now: Int) {
        players[id]?.lastSeen = now
    }

    func leave(_ id: Int) {
        guard let p = players.removeValue(forKey: id) else { return }
        unseat(p)
        byRegion[p.region]?.removeAll { $0 === p }
        departures += 1
    }

    private func unseat(_ p: Player) {
        guard let n = p.roomNumber, let room = rooms[n] else { return }
        room.remove(p)
        if room.members.isEmpty { rooms[n] = nil }
    }

    func dropIdle(now: Int) {
        let stale = players.values.filter { now - $0.lastSeen > idleLimit }
        for p in stale {
            players[p.id] = nil
            unseat(p)
            timeouts += 1
        }
    }

    func startMatches(now: Int) {
        for room in rooms.values where room.isFull && room.startedAt == nil {
            room.startedAt = now
        }
    }

    func finishMatches(now: Int, dice: inout Dice) {
        for room in Array(rooms.values) {
            guard let began = room.startedAt, now - began > 12 else { continue }
            matches += 1
            let winner = dice.roll(max(1, room.members.count))
            for (i, p) in room.members.enumerated() {
                p.rating += i == winner ? 15 : -5
            }
            room.startedAt = nil
        }
    }

    func fullestRegion() -> String {
        byRegion.max { $0.value.count < $1.value.count }?.key.rawValue ?? "none"
    }

    var online: [Int] { players.keys.sorted() }

    func averageRating() -> Double {
        guard !players.isEmpty else { return 0 }
        return Double(players.values.reduce(0) { $0 + $1.rating }) / Double(players.count)
    }
}

final class Server {
    private let lobby = Lobby()
    private var dice = Dice(state: 42)
    private var nextId = 1
    private var silent = Set<Int>()

    func run(ticks: Int) {
        for now in 0..<ticks {
            for _ in 0..<(1 + dice.roll(3)) { admit(now) }
            for id in lobby.online {
                if silent.contains(id) { continue }
                lobby.touch(id, now: now)
                if dice.roll(40) == 0 { lobby.leave(id) }
            }
            lobby.startMatches(now: now)
            lobby.finishMatches(now: now, dice: &dice)
            if now % 5 == 0 { lobby.dropIdle(now: now) }
            usleep(4_000)
        }
    }

    private func admit(_ now: Int) {
        let region = Region.allCases[dice.roll(3)]
        let p = Player(id: nextId, region: region, rating: 1000 + dice.roll(400), now: now)
        if dice.roll(6) == 0 { silent.insert(nextId) }
        nextId += 1
        lobby.join(p, now: now)
    }

    func summary() -> String {
        "matches \(lobby.matches), left \(lobby.departures), timed out \(lobby.timeouts), online \(lobby.online.count), rating \(Int(lobby.averageRating())), fullest region \(lobby.fullestRegion())"
    }
}

let server = Server()
server.run(ticks: 500)
print(server.summary())
