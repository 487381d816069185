import Foundation

enum Packet: Sendable {
    case move(x: Int, y: Int)
    case say(String)
}

actor Mailbox {
    private var packets: [Packet] = []
    private var readers: [CheckedContinuation<Packet?, Never>] = []
    private var isClosed = false

    func send(_ packet: Packet) {
        if readers.isEmpty {
            packets.append(packet)
        } else {
            readers.removeFirst().resume(returning: packet)
        }
    }

    func receive() async -> Packet? {
        if !packets.isEmpty { return packets.removeFirst() }
        if isClosed { return nil }
        return await withCheckedContinuation { readers.append($0) }
    }

    func close() {
        isClosed = true
        for reader in readers { reader.resume(returning: nil) }
        readers.removeAll()
    }
}

actor Scoreboard {
    private var steps: [String: Int] = [:]
    private(set) var handled = 0

    func add(_ player: String, _ distance: Int) {
        steps[player, default: 0] += distance
        handled += 1
    }

    func top(_ n: Int) -> [String] {
        steps.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(n).map { "\($0.key)=\($0.value)" }
    }
}

final class PlayerConnection: Sendable {
    let player: String
    let address: String
    let mailbox = Mailbox()
    private let scores: Scoreboard

    init(player: String, address: String, scores: Scoreboard) {
        self.player = player
        self.address = address
        self.scores = scores
    }

    func pump() async {
        while let packet = await mailbox.receive() {
            switch packet {
            case .move(let x, let y):
                await scores.add(player, abs(x) + abs(y))
            case .say(let text):
                await scores.add(player, text.isEmpty ? 0 : 1)
            }
        }
    }
}

actor Lobby {
    let scores = Scoreboard()
    private var connections: [String: PlayerConnection] = [:]
    private var pumps: [String: Task<Void, Never>] = [:]
    private(set) var accepted = 0

    func connect(_ player: String, from address: String) {
        let connection = PlayerConnection(player: player, address: address, scores: scores)
        connections[player] = connection
        pumps[player] = Task { await connection.pump() }
        accepted += 1
    }

    func route(_ packet: Packet, to player: String) async {
        await connections[player]?.mailbox.send(packet)
    }

    func leave(_ player: String) async {
        guard let connection = connections.removeValue(forKey: player) else { return }
        await connection.mailbox.close()
        await pumps.removeValue(forKey: player)?.value
    }

    var online: [String] { connections.keys.sorted() }
}

@main
struct LobbyApp {
    static func main() async {
        let lobby = Lobby()
        let players = (1...14).map { String(format: "player%02d", $0) }
        for (index, player) in players.enumerated() {
            await lobby.connect(player, from: "10.0.0.\(index + 1)")
        }
        for (index, player) in players.enumerated() {
            await lobby.route(.move(x: index, y: -3), to: player)
            await lobby.route(.say("hello"), to: player)
        }
        while await lobby.scores.handled < players.count * 2 {
            try? await Task.sleep(for: .milliseconds(1))
        }
        for player in ["player03", "player08", "player12"] {
            await lobby.connect(player, from: "172.16.4.9")
            await lobby.route(.move(x: 40, y: 2), to: player)
        }
        while await lobby.scores.handled < players.count * 2 + 3 {
            try? await Task.sleep(for: .milliseconds(1))
        }
        for player in await lobby.online {
            await lobby.leave(player)
        }
        print("accepted \(await lobby.accepted), online \(await lobby.online.count)")
        print(await lobby.scores.top(3).joined(separator: " "))
    }
}
