import Foundation

enum PlayerInput: Sendable {
    case move(Int)
    case chat(String)
    case tick
}

struct ScoreLine: Sendable {
    let player: Int
    let score: Int
    let reason: String
}

actor Scoreboard {
    private var lines: [String: Int] = [:]
    private(set) var points = 0

    func post(_ line: ScoreLine) {
        lines[line.reason, default: 0] += 1
        points += line.score
    }

    var finished: Int { lines.values.reduce(0, +) }
    func count(_ reason: String) -> Int { lines[reason] ?? 0 }
}

final class PlayerSession: @unchecked Sendable {
    let player: Int
    private let scoreboard: Scoreboard
    private let inputs: AsyncStream<PlayerInput>
    private let inbox: AsyncStream<PlayerInput>.Continuation
    private var loop: Task<Void, Never>?
    private var score = 0
    private var board = [Int](repeating: 0, count: 36)
    private var farewell = "left"

    init(player: Int, scoreboard: Scoreboard) {
        self.player = player
        self.scoreboard = scoreboard
        (inputs, inbox) = AsyncStream.makeStream()
    }

    func start() {
        loop = Task {
            for await input in self.inputs { self.play(input) }
            await self.scoreboard.post(ScoreLine(player: self.player, score: self.score, reason: self.farewell))
        }
    }

    func send(_ input: PlayerInput) { inbox.yield(input) }

    private func play(_ input: PlayerInput) {
        switch input {
        case .move(let square):
            board[square % board.count] += 1
            score += board[square % board.count] % 4
        case .chat(let text):
            score += text.utf8.count % 2
        case .tick:
            score += 1
        }
    }

    func end(_ reason: String) {
        farewell = reason
        inbox.finish()
    }
}

actor GameServer {
    private var sessions: [Int: PlayerSession] = [:]
    private let scoreboard: Scoreboard
    private let grace: Duration

    init(scoreboard: Scoreboard, grace: Duration) {
        self.scoreboard = scoreboard
        self.grace = grace
    }

    var online: Int { sessions.count }

    func join(_ player: Int) {
        let session = PlayerSession(player: player, scoreboard: scoreboard)
        session.start()
        sessions[player] = session
    }

    func forward(_ input: PlayerInput, from player: Int) {
        sessions[player]?.send(input)
    }

    func leave(_ player: Int) {
        sessions.removeValue(forKey: player)?.end("left")
    }

    func connectionLost(_ player: Int) {
        guard let session = sessions.removeValue(forKey: player) else { return }
        let grace = self.grace
        Task {
            try? await Task.sleep(for: grace)
            session.send(.tick)
            session.end("expired")
        }
    }

    func shutDown() {
        for session in sessions.values {
            session.send(.chat("good night"))
            session.end("closed")
        }
        sessions.removeAll()
    }
}

@main
struct GameHost {
    static func main() async throws {
        let scoreboard = Scoreboard()
        let server = GameServer(scoreboard: scoreboard, grace: .milliseconds(500))
        var joined = 0

        for round in 0..<55 {
            let party = (0..<6).map { joined + $0 }
            joined += party.count
            for player in party { await server.join(player) }
            for turn in 0..<10 {
                for player in party {
                    await server.forward(turn % 5 == 4 ? .chat("gg\(turn)") : .move(player * 7 + turn * round), from: player)
                }
            }
            try await Task.sleep(for: .milliseconds(10))
            for (seat, player) in party.enumerated() {
                switch seat {
                case 0, 1, 2: await server.leave(player)
                case 3, 4: await server.connectionLost(player)
                default: break
                }
            }
        }

        let lobby = await server.online
        await server.shutDown()
        while await scoreboard.finished < joined { try await Task.sleep(for: .milliseconds(5)) }
        try await Task.sleep(for: .milliseconds(60))

        let reasons = ["left", "expired", "closed"]
        var parts: [String] = []
        for reason in reasons { parts.append("\(reason) \(await scoreboard.count(reason))") }
        print("joined \(joined), lobby at close \(lobby), points \(await scoreboard.points)")
        print(parts.joined(separator: ", "))
    }
}
