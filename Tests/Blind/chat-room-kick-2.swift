import Foundation

struct ChatLine: Sendable {
    let author: String
    let text: String
}

final class Room: @unchecked Sendable {
    let name: String
    private let lock = NSLock()
    private var feeds: [Int: AsyncStream<ChatLine>.Continuation] = [:]
    private var history: [ChatLine] = []

    init(name: String) { self.name = name }

    func open(for id: Int) -> AsyncStream<ChatLine> {
        let (stream, continuation) = AsyncStream.makeStream(of: ChatLine.self)
        lock.withLock { feeds[id] = continuation }
        return stream
    }

    func shut(_ id: Int) {
        let feed = lock.withLock { feeds.removeValue(forKey: id) }
        feed?.finish()
    }

    func post(_ line: ChatLine) {
        let targets: [AsyncStream<ChatLine>.Continuation] = lock.withLock {
            history.append(line)
            return Array(feeds.values)
        }
        for target in targets { target.yield(line) }
    }

    var lineCount: Int { lock.withLock { history.count } }
}

final class Member: @unchecked Sendable {
    let id: Int
    let nick: String
    private var unread = 0
    private var mentions = 0

    init(id: Int, nick: String) {
        self.id = id
        self.nick = nick
    }

    func join(_ room: Room) {
        let lines = room.open(for: id)
        Task {
            for await line in lines { self.receive(line) }
        }
    }

    private func receive(_ line: ChatLine) {
        unread += 1
        if line.text.contains("@\(nick)") { mentions += 1 }
    }
}

final class Lobby {
    private let room: Room
    private var members: [Int: Member] = [:]
    private var strikes: [Int: Int] = [:]
    private(set) var banned: [String] = []

    init(room: Room) { self.room = room }

    var present: [String] { members.values.map(\.nick).sorted() }

    func admit(id: Int, nick: String) {
        let member = Member(id: id, nick: nick)
        member.join(room)
        members[id] = member
    }

    func say(_ id: Int, _ text: String) {
        guard let member = members[id] else { return }
        if text.contains("http://") {
            strikes[id, default: 0] += 1
            if strikes[id]! >= 2 {
                kick(id)
                return
            }
        }
        room.post(ChatLine(author: member.nick, text: text))
    }

    func part(_ id: Int) {
        guard let member = members.removeValue(forKey: id) else { return }
        room.shut(member.id)
        room.post(ChatLine(author: "*", text: "\(member.nick) has left"))
    }

    func kick(_ id: Int) {
        guard let member = members.removeValue(forKey: id) else { return }
        banned.append(member.nick)
        room.post(ChatLine(author: "*", text: "\(member.nick) was kicked"))
    }
}

let room = Room(name: "harbour")
let lobby = Lobby(room: room)
for id in 1...30 { lobby.admit(id: id, nick: "user\(id)") }

for round in 1...10 {
    for id in 1...30 {
        if id % 6 == 0 && round > 2 {
            lobby.say(id, "cheap watches at http://deals\(id).example")
        } else {
            lobby.say(id, "round \(round), hello @user\((id + round) % 30)")
        }
    }
    for id in 4...30 where id % 6 != 0 && id % 5 == round % 5 { lobby.part(id) }
    try await Task.sleep(for: .milliseconds(25))
}

for round in 1...12 {
    for id in 1...3 { lobby.say(id, "late talk \(round)") }
    try await Task.sleep(for: .milliseconds(20))
}
print("#\(room.name): \(room.lineCount) lines, present \(lobby.present), banned \(lobby.banned.sorted())")
