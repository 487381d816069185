import Foundation

// Websocket style chat server, driven by simulated connections. Newcomers get
// the last messages of a room.

enum Frame {
    case join(room: String)
    case leave(room: String)
    case say(room: String, text: String)
    case nick(String)
    case close
}

final class ChatMessage {
    let author: String
    let text: String
    let sequence: Int
    init(author: String, text: String, sequence: Int) {
        self.author = author
        self.text = text
        self.sequence = sequence
    }
}

final class Connection {
    let id: Int
    var nick: String
    private(set) var rooms: [String: Room] = [:]
    private var outbox: [ChatMessage] = []
    private(set) var delivered = 0
    var onClose: (() -> Void)?

    init(id: Int) {
        self.id = id
        nick = "guest\(id)"
    }

    func enter(_ room: Room) {
        rooms[room.name] = room
        room.add(self)
    }

    func exit(_ name: String) {
        rooms.removeValue(forKey: name)?.remove(self)
    }

    func enqueue(_ message: ChatMessage) { outbox.append(message) }

    func flush() -> Int {
        let bytes = outbox.reduce(0) { $0 + $1.text.utf8.count + $1.author.utf8.count }
        delivered += outbox.count
        outbox.removeAll(keepingCapacity: true)
        return bytes
    }

    func close() {
        for name in Array(rooms.keys) { exit(name) }
        onClose?()
        onClose = nil
    }
}

final class Room {
    private struct Member { weak var connection: Connection? }
    let name: String
    private var members: [Int: Member] = [:]
    private var history: [ChatMessage] = []
    private var sequence = 0
    private let historyLimit = 50

    init(name: String) { self.name = name }

    func add(_ connection: Connection) {
        members[connection.id] = Member(connection: connection)
        for message in history.suffix(10) { connection.enqueue(message) }
    }

    func remove(_ connection: Connection) { members[connection.id] = nil }

    func broadcast(_ text: String, from author: Connection) {
        sequence += 1
        let message = ChatMessage(author: author.nick, text: text, sequence: sequence)
        history.append(message)
        if history.count > historyLimit { history.removeFirst() }
        for member in members.values { member.connection?.enqueue(message) }
    }

    var memberCount: Int { members.count }
    var messages: Int { sequence }
}

final class ChatServer {
    private var connections: [Int: Connection] = [:]
    private var rooms: [String: Room] = [:]
    private var nextID = 0
    private(set) var closed = 0
    private(set) var bytes = 0
    private(set) var messages = 0
    private(set) var roomsDropped = 0

    func accept() -> Int {
        nextID += 1
        let id = nextID
        let connection = Connection(id: id)
        connection.onClose = { [weak self] in
            self?.connections[id] = nil
            self?.closed += 1
        }
        connections[id] = connection
        return id
    }

    func receive(_ frame: Frame, from id: Int) {
        guard let connection = connections[id] else { return }
        switch frame {
        case .nick(let name): connection.nick = name
        case .join(let name):
            let room = rooms[name] ?? Room(name: name)
            rooms[name] = room
            connection.enter(room)
        case .leave(let name):
            connection.exit(name)
            dropIfEmpty(name)
        case .say(let name, let text):
            guard let room = connection.rooms[name] else { return }
            messages += 1
            room.broadcast(text, from: connection)
        case .close:
            let joined = Array(connection.rooms.keys)
            connection.close()
            joined.forEach(dropIfEmpty)
        }
    }

    private func dropIfEmpty(_ name: String) {
        guard let room = rooms[name], room.memberCount == 0 else { return }
        rooms[name] = nil
        roomsDropped += 1
    }

    func tick() {
        for connection in connections.values { bytes += connection.flush() }
    }

    var openConnections: Int { connections.count }
    var openRooms: Int { rooms.count }
}

final class Client {
    let id: Int
    var room: String
    var remaining: Int
    init(id: Int, room: String, remaining: Int) {
        self.id = id
        self.room = room
        self.remaining = remaining
    }
}

let server = ChatServer()
var clients: [Client] = []
var state: UInt64 = 0x2545_F491_4F6C_DD1D
func roll(_ bound: Int) -> Int {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return Int((state &* 2_685_821_657_736_338_717) >> 40) % bound
}

for round in 0..<9_500 {
    // Arrivals follow a daily wave between 1 and 5 per round.
    let arrivals = 3 + Int(2 * sin(Double(round) / 200))
    for _ in 0..<arrivals {
        let id = server.accept()
        let room = "room-\(roll(60))"
        if roll(3) == 0 { server.receive(.nick("user\(id)"), from: id) }
        server.receive(.join(room: room), from: id)
        clients.append(Client(id: id, room: room, remaining: 20 + roll(60)))
    }
    for client in clients {
        client.remaining -= 1
        if client.remaining <= 0 {
            server.receive(.close, from: client.id)
        } else if roll(6) == 0 {
            server.receive(.say(room: client.room, text: "round \(round) greetings from \(client.id)"), from: client.id)
        } else if roll(40) == 0 {
            server.receive(.leave(room: client.room), from: client.id)
            client.room = "room-\(roll(60))"
            server.receive(.join(room: client.room), from: client.id)
        }
    }
    clients.removeAll { $0.remaining <= 0 }
    server.tick()
}
print("messages \(server.messages), bytes \(server.bytes), closed \(server.closed)")
print("open \(server.openConnections) connections in \(server.openRooms) rooms, dropped \(server.roomsDropped) rooms")
