// Relay for a multi-room chat. Connections are replayed from a generated trace.
import Foundation

enum SessionState {
    case open, closed, timedOut
}

final class ChatSession {
    let id: Int
    let nick: String
    var state = SessionState.open
    var lastActivity: Int
    var inbox: [String] = []
    unowned let room: Room

    init(id: Int, nick: String, room: Room, now: Int) {
        self.id = id
        self.nick = nick
        self.room = room
        self.lastActivity = now
    }
}

final class Room {
    let topic: String
    private var members: [Int: ChatSession] = [:]
    private(set) var relayed = 0

    init(topic: String) { self.topic = topic }

    func join(_ session: ChatSession) { members[session.id] = session }
    func leave(_ session: ChatSession) { members[session.id] = nil }

    func relay(_ text: String, from sender: ChatSession) {
        for member in members.values where member !== sender {
            member.inbox.append("\(sender.nick): \(text)")
            if member.inbox.count > 8 { member.inbox.removeFirst() }
            relayed += 1
        }
    }
}

final class IdleWatch {
    private var watched: [ChatSession] = []
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    func add(_ session: ChatSession) { watched.append(session) }

    func expire(now: Int) -> [ChatSession] {
        watched.removeAll { $0.state != .open }
        let idle = watched.filter { now - $0.lastActivity > limit }
        watched.removeAll { now - $0.lastActivity > limit }
        return idle
    }
}

final class ChatServer {
    private var sessions: [Int: ChatSession] = [:]
    private let rooms: [Room]
    private let idle = IdleWatch(limit: 40)
    private(set) var closed = 0
    private(set) var timedOut = 0

    init(topics: [String]) { rooms = topics.map(Room.init(topic:)) }

    func connect(id: Int, nick: String, now: Int) {
        let room = rooms[id % rooms.count]
        let session = ChatSession(id: id, nick: nick, room: room, now: now)
        sessions[id] = session
        room.join(session)
        idle.add(session)
    }

    func message(id: Int, text: String, now: Int) {
        guard let session = sessions[id], session.state == .open else { return }
        session.lastActivity = now
        session.room.relay(text, from: session)
    }

    func close(id: Int) {
        guard let session = sessions.removeValue(forKey: id) else { return }
        session.state = .closed
        session.room.leave(session)
        closed += 1
    }

    func tick(now: Int) {
        for session in idle.expire(now: now) {
            session.state = .timedOut
            session.room.leave(session)
            timedOut += 1
        }
    }

    var relayed: Int { rooms.reduce(0) { $0 + $1.relayed } }
}

let server = ChatServer(topics: ["lobby", "support", "offtopic", "swift"])
let ends = 600 + 20
for step in 0..<ends {
    let now = step * 3
    if step < 600 { server.connect(id: step, nick: "guest\(step)", now: now) }
    for back in 1...9 where step - back >= 0 && step - back < 600 {
        server.message(id: step - back, text: "line \(back) at \(now)", now: now)
    }
    // two of three guests say goodbye, the rest go silent
    let leaver = step - 10
    if leaver >= 0 && leaver < 600 && leaver % 3 != 0 { server.close(id: leaver) }
    server.tick(now: now)
    if step % 40 == 0 { usleep(5000) }
}
server.tick(now: ends * 3 + 100)
print("guests: 600, closed: \(server.closed), timed out: \(server.timedOut), relayed: \(server.relayed)")
