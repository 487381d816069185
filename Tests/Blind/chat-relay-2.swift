import Foundation

struct ChatMessage {
    let room: String
    let sender: String
    let text: String
    let sequence: Int
}

enum LeaveReason {
    case quit
    case idle
    case kicked(word: String)
}

final class MentionBus {
    typealias Handler = (ChatMessage) -> Void
    private var handlers: [String: [Int: Handler]] = [:]
    private var nextToken = 1
    private(set) var delivered = 0

    func subscribe(nick: String, _ handler: @escaping Handler) -> Int {
        let token = nextToken
        nextToken += 1
        handlers[nick, default: [:]][token] = handler
        return token
    }

    func unsubscribe(nick: String, token: Int) {
        handlers[nick]?[token] = nil
        if handlers[nick]?.isEmpty == true {
            handlers[nick] = nil
        }
    }

    func publish(_ message: ChatMessage, to nick: String) {
        guard let interested = handlers[nick] else { return }
        for handler in interested.values {
            handler(message)
            delivered += 1
        }
    }
}

final class ClientSession {
    let number: Int
    let nick: String
    var inbox: [ChatMessage] = []
    var mentions = 0
    var outgoing: [UInt8]
    var mentionToken: Int?
    weak var room: Room?

    init(number: Int, nick: String) {
        self.number = number
        self.nick = nick
        outgoing = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 512)
    }

    func listen(on bus: MentionBus) {
        mentionToken = bus.subscribe(nick: nick) { message in
            self.mentions += 1
            self.receive(message)
        }
    }

    func stopListening(on bus: MentionBus) {
        if let token = mentionToken {
            bus.unsubscribe(nick: nick, token: token)
            mentionToken = nil
        }
    }

    func receive(_ message: ChatMessage) {
        inbox.append(message)
        if inbox.count > 20 { inbox.removeFirst(inbox.count - 20) }
        outgoing[message.sequence % outgoing.count] &+= UInt8(truncatingIfNeeded: message.text.utf8.count)
    }
}

final class Room {
    let name: String
    private(set) var members: [Int: ClientSession] = [:]
    private var backlog: [ChatMessage] = []
    private(set) var posted = 0

    init(name: String) { self.name = name }

    func join(_ session: ClientSession) {
        members[session.number] = session
        session.room = self
        for message in backlog.suffix(5) { session.receive(message) }
    }

    func leave(_ session: ClientSession) {
        members[session.number] = nil
        session.room = nil
    }

    func broadcast(_ message: ChatMessage) {
        posted += 1
        backlog.append(message)
        if backlog.count > 40 { backlog.removeFirst() }
        for member in members.values where member.nick != message.sender {
            member.receive(message)
        }
    }

    var backlogBytes: Int { backlog.reduce(0) { $0 + $1.text.utf8.count } }
}

struct ModerationFilter {
    let banned: Set<String>

    func offendingWord(in text: String) -> String? {
        for word in text.split(separator: " ") where banned.contains(String(word)) {
            return String(word)
        }
        return nil
    }
}

final class ChatServer {
    private var rooms: [String: Room] = [:]
    private var sessions: [Int: ClientSession] = [:]
    private let bus = MentionBus()
    private let filter = ModerationFilter(banned: ["spam", "casino"])
    private var sequence = 0
    private var kicks: [String: Int] = [:]
    private var departures = 0

    init(roomNames: [String]) {
        for name in roomNames { rooms[name] = Room(name: name) }
    }

    func connect(number: Int, nick: String, room: String) {
        let session = ClientSession(number: number, nick: nick)
        session.listen(on: bus)
        sessions[number] = session
        rooms[room]?.join(session)
    }

    func post(from number: Int, text: String) {
        guard let session = sessions[number], let room = session.room else { return }
        if let word = filter.offendingWord(in: text) {
            drop(number, reason: .kicked(word: word))
            return
        }
        sequence += 1
        let message = ChatMessage(room: room.name, sender: session.nick, text: text, sequence: sequence)
        room.broadcast(message)
        for word in text.split(separator: " ") where word.hasPrefix("@") {
            bus.publish(message, to: String(word.dropFirst()))
        }
    }

    func drop(_ number: Int, reason: LeaveReason) {
        guard let session = sessions.removeValue(forKey: number) else { return }
        session.room?.leave(session)
        switch reason {
        case .kicked(let word):
            kicks[word, default: 0] += 1
        case .quit, .idle:
            session.stopListening(on: bus)
            departures += 1
        }
    }

    var online: [Int] { sessions.keys.sorted() }

    func report() -> String {
        let posts = rooms.values.reduce(0) { $0 + $1.posted }
        let bytes = rooms.values.reduce(0) { $0 + $1.backlogBytes }
        let kicked = kicks.values.reduce(0, +)
        return "posts=\(posts) mentions=\(bus.delivered) backlog=\(bytes) kicked=\(kicked) left=\(departures) online=\(online.count)"
    }
}

let roomNames = ["lobby", "swift", "ops", "games"]
let server = ChatServer(roomNames: roomNames)
var nextNumber = 0

for round in 0..<60 {
    var arrivals: [Int] = []
    for _ in 0..<12 {
        let number = nextNumber
        nextNumber += 1
        server.connect(number: number, nick: "guest\(number)", room: roomNames[number % roomNames.count])
        arrivals.append(number)
    }
    for (position, number) in arrivals.enumerated() {
        let neighbour = arrivals[(position + 4) % arrivals.count]
        server.post(from: number, text: "hello from round \(round) @guest\(neighbour)")
        if number % 9 == 4 {
            server.post(from: number, text: "visit my casino tonight")
        } else {
            server.post(from: number, text: "anyone awake in here")
        }
    }
    for number in server.online where number % 2 == round % 2 {
        server.drop(number, reason: number % 3 == 0 ? .idle : .quit)
    }
    usleep(10_000)
}
for number in server.online { server.drop(number, reason: .quit) }
print(server.report())
