import Foundation

final class MoveEvent {
    let player: Int
    let square: Int
    let clock: Double
    init(player: Int, square: Int, clock: Double) {
        self.player = player
        self.square = square
        self.clock = clock
    }
}

final class MatchRoom {
    let id: Int
    private(set) var moves: [MoveEvent] = []
    private let length: Int

    init(id: Int, length: Int) {
        self.id = id
        self.length = length
    }

    var isFinished: Bool { moves.count >= length }

    func play(seed: Int) {
        let player = moves.count % 2
        moves.append(MoveEvent(player: player, square: (seed &* 17 + moves.count) % 64,
                               clock: Double(moves.count) * 1.5))
    }

    func summary() -> MatchSummary {
        var weight = [0, 0]
        for move in moves { weight[move.player] += move.square }
        return MatchSummary(match: id, winner: weight[0] >= weight[1] ? 0 : 1, moves: moves.count)
    }
}

struct MatchSummary {
    let match: Int
    let winner: Int
    let moves: Int
}

final class Tournament {
    private var running: [Int: MatchRoom] = [:]
    private(set) var results: [MatchSummary] = []
    private var nextID = 0

    func startRound(of count: Int) {
        for n in 0..<count {
            nextID += 1
            running[nextID] = MatchRoom(id: nextID, length: 40 + (n * 13) % 60)
        }
    }

    func step(seed: Int) {
        for (id, room) in running {
            room.play(seed: seed &+ id)
            if room.isFinished {
                results.append(room.summary())
                running.removeValue(forKey: id)
            }
        }
    }

    var active: Int { running.count }
}

let tournament = Tournament()
var seed = 5
for _ in 0..<6 {
    tournament.startRound(of: 8)
    while tournament.active > 0 {
        seed = (seed &* 1103515245 &+ 12345) & 0xffff
        tournament.step(seed: seed)
    }
}
let moves = tournament.results.reduce(0) { $0 + $1.moves }
print("matches \(tournament.results.count) moves \(moves) active \(tournament.active)")
