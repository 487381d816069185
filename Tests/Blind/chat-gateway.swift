import Foundation

enum Frame {
    case text(String)
    case ping
    case malformed(byte: UInt8)
    case bye
}

enum GatewayError: Error {
    case protocolViolation(UInt8)
}

final class Connection {
    let id: Int
    let nick: String
    var lastActivity: Int
    var inbox: [UInt8]
    var messages = 0
    var next: Connection?
    unowned(unsafe) var previous: Connection?

    init(id: Int, nick: String, now: Int) {
        self.id = id
        self.nick = nick
        self.lastActivity = now
        self.inbox = [UInt8](repeating: 0, count: 512)
    }
}

/// Connections in the order of their last activity, the quietest first.
struct IdleList {
    private var head: Connection?
    private unowned(unsafe) var tail: Connection?

    mutating func append(_ connection: Connection) {
        connection.previous = tail
        connection.next = nil
        if let last = tail {
            last.next = connection
        } else {
            head = connection
        }
        tail = connection
    }

    mutating func unlink(_ connection: Connection) {
        let before = connection.previous
        let after = connection.next
        if let before { before.next = after } else { head = after }
        if let after { after.previous = before } else { tail = before }
        connection.previous = nil
        connection.next = nil
    }

    mutating func touch(_ connection: Connection, now: Int) {
        connection.lastActivity = now
        unlink(connection)
        append(connection)
    }
}

final class Room {
    let name: String
    private var lines: [String] = []
    private(set) var total = 0

    init(name: String) { self.name = name }

    func post(_ line: String) {
        lines.append(line)
        total += 1
        if lines.count > 50 { lines.removeFirst(lines.count - 50) }
    }
}

final class Gateway {
    private var connections: [Int: Connection] = [:]
    private var idle = IdleList()
    private let rooms: [Room]
    private var clock = 0
    private(set) var refused = 0
    private(set) var closed = 0

    init(rooms: [Room]) { self.rooms = rooms }

    var online: Int { connections.count }

    func accept(id: Int) {
        clock += 1
        let connection = Connection(id: id, nick: "user\(id)", now: clock)
        connections[id] = connection
        idle.append(connection)
    }

    func receive(_ frame: Frame, from id: Int) {
        guard let connection = connections[id] else { return }
        clock += 1
        do {
            try handle(frame, on: connection)
        } catch {
            connections.removeValue(forKey: id)
            connection.inbox.removeAll(keepingCapacity: true)
            refused += 1
        }
    }

    private func handle(_ frame: Frame, on connection: Connection) throws {
        switch frame {
        case .text(let body):
            connection.messages += 1
            connection.inbox[connection.messages % connection.inbox.count] = UInt8(body.utf8.count & 0xff)
            rooms[connection.id % rooms.count].post("\(connection.nick): \(body)")
            idle.touch(connection, now: clock)
        case .ping:
            idle.touch(connection, now: clock)
        case .malformed(let byte):
            throw GatewayError.protocolViolation(byte)
        case .bye:
            idle.unlink(connection)
            connections.removeValue(forKey: connection.id)
            closed += 1
        }
    }
}

let rooms = ["lobby", "help", "music"].map(Room.init(name:))
let gateway = Gateway(rooms: rooms)

func traffic(round: Int) {
    let ids = (1...6).map { round * 6 + $0 }
    ids.forEach(gateway.accept(id:))
    for step in 0..<4 {
        for id in ids {
            if id % 7 == 3 && step == 2 {
                gateway.receive(.malformed(byte: 0xfe), from: id)
            } else if (id + step) % 3 == 0 {
                gateway.receive(.ping, from: id)
            } else {
                gateway.receive(.text("message \(step) in round \(round)"), from: id)
            }
        }
    }
    usleep(1200)
    for id in ids.reversed() {
        gateway.receive(.bye, from: id)
    }
}

for round in 0..<350 {
    traffic(round: round)
    if round % 10 == 0 { usleep(2000) }
}
let posted = rooms.map(\.total).reduce(0, +)
print("posted \(posted), closed \(gateway.closed), refused \(gateway.refused), online \(gateway.online)")
