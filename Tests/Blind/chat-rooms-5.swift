import Foundation

final class ChatMessage {
    let author: String
    let text: String
    init(author: String, text: String) {
        self.author = author
        self.text = text
    }
}

final class ChatSession {
    let id: Int
    let nickname: String
    var joined: Set<String> = []
    var inbox: [ChatMessage] = []

    init(id: Int, nickname: String) {
        self.id = id
        self.nickname = nickname
    }

    func receive(_ message: ChatMessage) {
        inbox.append(message)
        if inbox.count > 5 { inbox.removeFirst() }
    }
}

final class Room {
    let name: String
    var members: [Int: ChatSession] = [:]
    var backlog: [ChatMessage] = []

    init(name: String) { self.name = name }

    func post(_ message: ChatMessage) {
        backlog.append(message)
        if backlog.count > 50 { backlog.removeFirst() }
        for member in members.values { member.receive(message) }
    }
}

final class ChatServer {
    private var sessions: [Int: ChatSession] = [:]
    private var rooms: [String: Room] = [:]
    private var invitations: [Int: String] = [:]
    private var nextID = 0

    func room(_ name: String) -> Room {
        if let room = rooms[name] { return room }
        let room = Room(name: name)
        rooms[name] = room
        return room
    }

    func connect(nickname: String) -> ChatSession {
        let session = ChatSession(id: nextID, nickname: nickname)
        nextID += 1
        sessions[session.id] = session
        return session
    }

    func join(_ session: ChatSession, room name: String) {
        room(name).members[session.id] = session
        session.joined.insert(name)
    }

    func invite(_ session: ChatSession, to name: String) {
        invitations[session.id] = name
    }

    func acceptInvitation(_ session: ChatSession) {
        guard let name = invitations.removeValue(forKey: session.id) else { return }
        room(name).members[session.id] = session
    }

    func say(_ session: ChatSession, in name: String, _ text: String) {
        room(name).post(ChatMessage(author: session.nickname, text: text))
    }

    func disconnect(_ session: ChatSession) {
        invitations.removeValue(forKey: session.id)
        session.inbox.removeAll()
        for name in session.joined { rooms[name]?.members.removeValue(forKey: session.id) }
        sessions.removeValue(forKey: session.id)
    }

    var online: Int { sessions.count }
}

let server = ChatServer()
let publicRooms = ["lobby", "swift", "music", "help"]
var posted = 0
for hour in 0..<24 {
    var visitors: [ChatSession] = []
    for n in 0..<50 {
        let session = server.connect(nickname: "guest\(hour * 50 + n)")
        server.join(session, room: publicRooms[n % 4])
        if session.id % 12 == 5 {
            server.invite(session, to: "staff-\(session.id % 3)")
            server.acceptInvitation(session)
        } else if session.id % 12 == 8 {
            server.invite(session, to: "staff-0")
        }
        visitors.append(session)
    }
    for session in visitors where session.id % 2 == 0 {
        server.say(session, in: publicRooms[session.id % 4], "hello from \(session.nickname)")
        posted += 1
    }
    Thread.sleep(forTimeInterval: 0.05)
    for session in visitors { server.disconnect(session) }
}
print("posted \(posted), online \(server.online)")
