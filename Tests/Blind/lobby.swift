import Foundation

final class Player: Sendable {
    let name: String
    let deck: [Int]
    init(name: String, seed: Int) {
        self.name = name
        deck = (0..<52).map { ($0 * 7 + seed) % 52 }
    }
}

actor Lobby {
    static let shared = Lobby()
    private var seats: [(player: Player, waiter: CheckedContinuation<[String], Never>)] = []
    private(set) var games = 0

    /// Returns the names at the table as soon as four players are there.
    func join(_ player: Player) async -> [String] {
        await withCheckedContinuation { continuation in
            seats.append((player, continuation))
            if seats.count == 4 { startGame() }
        }
    }

    private func startGame() {
        games += 1
        let table = seats
        seats.removeAll()
        let names = table.map { $0.player.name }
        for seat in table { seat.waiter.resume(returning: names) }
    }

    var waiting: Int { seats.count }
}

actor Leaderboard {
    static let shared = Leaderboard()
    private var points: [String: Int] = [:]
    private(set) var results = 0
    func add(_ name: String, _ n: Int) {
        points[name, default: 0] += n
        results += 1
        if points.count > 100 { points.removeAll() }
    }
}

func play(_ player: Player) async {
    let table = await Lobby.shared.join(player)
    let score = player.deck.prefix(table.count).reduce(0, +)
    await Leaderboard.shared.add(player.name, score)
}

@main
struct CardServer {
    static func main() async throws {
        var seated = 0
        for round in 0..<6 {
            // Players come in groups of different size; the last group has 7.
            let group = round < 5 ? 40 : 7
            for n in 0..<group {
                let player = Player(name: "p\(round)-\(n)", seed: n)
                Task { await play(player) }
            }
            seated += group / 4 * 4
            while await Leaderboard.shared.results < seated {
                try await Task.sleep(for: .milliseconds(3))
            }
            try await Task.sleep(for: .milliseconds(40))
        }
        print("games \(await Lobby.shared.games), waiting \(await Lobby.shared.waiting)")
    }
}
