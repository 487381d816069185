import Foundation
import Dispatch

final class Message {
    let author: String
    let text: String
    let sequence: Int
    init(author: String, text: String, sequence: Int) {
        self.author = author
        self.text = text
        self.sequence = sequence
    }
}

final class Session {
    let id: Int
    let nick: String
    var inbox: [Message] = []
    var rooms: Set<String> = []
    init(id: Int, nick: String) {
        self.id = id
        self.nick = nick
    }
    func deliver(_ message: Message) {
        inbox.append(message)
        if inbox.count > 20 { inbox.removeFirst(inbox.count - 20) }
    }
}

final class Room {
    let name: String
    private var members: [Int: Session] = [:]
    private var backlog: [Message] = []
    private let backlogLimit: Int
    private(set) var posted = 0

    init(name: String, backlogLimit: Int) {
        self.name = name
        self.backlogLimit = backlogLimit
    }

    func join(_ session: Session) {
        members[session.id] = session
        session.rooms.insert(name)
        for message in backlog.suffix(5) { session.deliver(message) }
    }

    func leave(_ session: Session) {
        members[session.id] = nil
        session.rooms.remove(name)
    }

    func post(_ message: Message) {
        posted += 1
        backlog.append(message)
        if backlog.count > backlogLimit { backlog.removeFirst() }
        for member in members.values where member.nick != message.author { member.deliver(message) }
    }

    var isEmpty: Bool { members.isEmpty }
    var size: Int { members.count }
}

final class ChatServer {
    private let queue = DispatchQueue(label: "chat.server")
    private var sessions: [Int: Session] = [:]
    private var rooms: [String: Room] = [:]
    private var sequence = 0
    private var closedRooms = 0
    private var totalPosted = 0

    func connect(id: Int, nick: String) {
        queue.async { self.sessions[id] = Session(id: id, nick: nick) }
    }

    func join(id: Int, room name: String) {
        queue.async {
            guard let session = self.sessions[id] else { return }
            let room = self.rooms[name] ?? Room(name: name, backlogLimit: 30)
            self.rooms[name] = room
            room.join(session)
        }
    }

    func say(id: Int, room name: String, text: String) {
        queue.async {
            guard let session = self.sessions[id], let room = self.rooms[name] else { return }
            self.sequence += 1
            self.totalPosted += 1
            room.post(Message(author: session.nick, text: text, sequence: self.sequence))
        }
    }

    private func part(_ session: Session, _ name: String) {
        guard let room = rooms[name] else { return }
        room.leave(session)
        if room.isEmpty {
            rooms[name] = nil
            closedRooms += 1
        }
    }

    func disconnect(id: Int) {
        queue.async {
            guard let session = self.sessions.removeValue(forKey: id) else { return }
            for name in session.rooms { self.part(session, name) }
        }
    }

    func statistics() -> String {
        queue.sync {
            let sizes = rooms.values.sorted { $0.name < $1.name }.map { "\($0.name)=\($0.size)" }
            return "sessions \(sessions.count), rooms \(sizes.joined(separator: " ")), posted \(totalPosted), closed \(closedRooms)"
        }
    }
}

final class Bot {
    let id: Int
    private let server: ChatServer
    private let room: String
    init(id: Int, name: String, room: String, server: ChatServer) {
        self.id = id
        self.server = server
        self.room = room
        server.connect(id: id, nick: name)
        server.join(id: id, room: room)
    }
    func tick(_ step: Int) {
        server.say(id: id, room: room, text: "step \(step): all systems \(step % 5 == 0 ? "busy" : "fine")")
    }
}

func serve() {
    let server = ChatServer()
    let bots = ["lobby", "help", "games"].enumerated().map { Bot(id: $0.offset, name: "bot-\($0.element)", room: $0.element, server: server) }
    var guests: [Int] = []
    var nextId = 100
    for step in 0..<650 {
        if step % 2 == 0 {
            nextId += 1
            server.connect(id: nextId, nick: "guest\(nextId)")
            server.join(id: nextId, room: ["lobby", "help", "games"][nextId % 3])
            if nextId % 4 == 0 { server.join(id: nextId, room: "private-\(nextId / 8)") }
            guests.append(nextId)
        }
        if let speaker = guests.randomElement() {
            server.say(id: speaker, room: ["lobby", "help", "games"][speaker % 3], text: "hello number \(step)")
        }
        bots[step % 3].tick(step)
        while guests.count > 25 {
            server.disconnect(id: guests.remove(at: step % guests.count))
        }
        if step % 200 == 199 { print(server.statistics()) }
        usleep(3000)
    }
    for guest in guests { server.disconnect(id: guest) }
    print("end: \(server.statistics())")
}

serve()
