import Foundation

final class ChatMessage {
    let author: String
    let body: String
    let sequence: Int

    init(author: String, body: String, sequence: Int) {
        self.author = author
        self.body = body
        self.sequence = sequence
    }
}

final class TypingIndicator {
    let user: String
    var ticksLeft = 2
    init(user: String) { self.user = user }
}

final class ChatRoom {
    let name: String
    private var history: [ChatMessage] = []
    private var typing: [TypingIndicator] = []
    private var nextSequence = 0

    init(name: String) { self.name = name }

    func startTyping(_ user: String) {
        typing.append(TypingIndicator(user: user))
    }

    func post(author: String, body: String) {
        let message = ChatMessage(author: author, body: body, sequence: nextSequence)
        nextSequence += 1
        history.append(message)
    }

    func tick() {
        for indicator in typing { indicator.ticksLeft -= 1 }
        typing.removeAll { $0.ticksLeft <= 0 }
    }

    func backlogForJoiner() -> [String] {
        history.suffix(20).map { "\($0.sequence) \($0.author): \($0.body)" }
    }

    var stored: Int { history.count }
}

final class ChatServer {
    private(set) var rooms: [String: ChatRoom] = [:]

    func room(named name: String) -> ChatRoom {
        if let room = rooms[name] { return room }
        let room = ChatRoom(name: name)
        rooms[name] = room
        return room
    }

    func tick() {
        for room in rooms.values { room.tick() }
    }
}

let server = ChatServer()
let users = ["ada", "linus", "grace", "ken", "barbara"]
var joinBytes = 0

for round in 0..<50 {
    for index in 0..<12 {
        let room = server.room(named: "room-\(index)")
        for burst in 0..<5 {
            let user = users[(round + index + burst) % users.count]
            room.startTyping(user)
            room.post(author: user, body: "message \(burst) of round \(round)")
        }
        if round % 7 == index % 7 {
            joinBytes += room.backlogForJoiner().reduce(0) { $0 + $1.utf8.count }
        }
    }
    server.tick()
}

let total = server.rooms.values.reduce(0) { $0 + $1.stored }
print("rooms \(server.rooms.count) stored \(total) joinBytes \(joinBytes)")
