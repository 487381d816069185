import Foundation

final class Message: Sendable {
    let number: Int
    let author: String
    let text: String
    init(number: Int, author: String, text: String) {
        self.number = number
        self.author = author
        self.text = text
    }
}

actor Session {
    let nick: String
    private var unread: [Message] = []
    private(set) var seen = 0

    init(nick: String) { self.nick = nick }

    func deliver(_ m: Message) {
        unread.append(m)
        if unread.count > 50 { unread.removeFirst() }
    }

    func read() -> Int {
        let n = unread.count
        seen += n
        unread.removeAll(keepingCapacity: true)
        return n
    }
}

actor Room {
    let topic: String
    private var members: [String: Session] = [:]
    private var history: [Message] = []
    private var counter = 0

    init(topic: String) { self.topic = topic }

    func join(_ s: Session) async {
        members[s.nick] = s
        for m in history.suffix(10) { await s.deliver(m) }
    }

    func part(_ nick: String) { members[nick] = nil }

    func say(_ author: String, _ text: String) async {
        counter += 1
        let m = Message(number: counter, author: author, text: text)
        history.append(m)
        if history.count > 100 { history.removeFirst(history.count - 100) }
        for s in Array(members.values) where s.nick != author { await s.deliver(m) }
    }

    var posted: Int { counter }
    var size: Int { members.count }
}

actor Directory {
    private var sessions: [String: Session] = [:]
    private var rooms: [String: Room] = [:]
    private(set) var logins = 0
    private(set) var drops = 0

    func room(_ topic: String) -> Room {
        if let r = rooms[topic] { return r }
        let r = Room(topic: topic)
        rooms[topic] = r
        return r
    }

    func login(_ nick: String) -> Session {
        logins += 1
        let s = Session(nick: nick)
        sessions[nick] = s
        return s
    }

    func logout(_ nick: String) async {
        guard sessions.removeValue(forKey: nick) != nil else { return }
        await partEverywhere(nick)
    }

    func drop(_ nick: String) async {
        guard sessions.removeValue(forKey: nick) != nil else { return }
        drops += 1
        await partEverywhere(nick)
    }

    private func partEverywhere(_ nick: String) async {
        for r in Array(rooms.values) { await r.part(nick) }
    }

    func statistics() async -> String {
        var parts: [String] = []
        for (topic, r) in rooms.sorted(by: { $0.key < $1.key }) {
            parts.append("\(topic):\(await r.posted)/\(await r.size)")
        }
        return "logins \(logins) drops \(drops) open \(sessions.count) rooms \(parts.joined(separator: " "))"
    }
}

struct Visitor {
    let index: Int
    let directory: Directory
    let topics = ["swift", "linux", "music", "food"]

    func visit() async {
        let nick = "v\(index)"
        let session = await directory.login(nick)
        let room = await directory.room(topics[index % topics.count])
        await room.join(session)
        for i in 0..<(2 + index % 5) {
            await room.say(nick, "hello \(i) from \(nick)")
            try? await Task.sleep(nanoseconds: UInt64(2_000_000 + index % 7 * 1_000_000))
            _ = await session.read()
        }
        if index % 5 == 0 {
            await directory.drop(nick)
        } else {
            await directory.logout(nick)
        }
    }
}

struct Operator {
    let nick: String
    let directory: Directory
    let topics: [String]

    func serve(rounds: Int) async -> Int {
        let session = await directory.login(nick)
        for t in topics { await directory.room(t).join(session) }
        var total = 0
        for r in 0..<rounds {
            try? await Task.sleep(nanoseconds: 40_000_000)
            total += await session.read()
            if r % 10 == 9 {
                for t in topics { await directory.room(t).say(nick, "notice \(r)") }
            }
        }
        return total
    }
}

func run() async {
    let directory = Directory()
    let operators = (0..<3).map { n in
        Task { await Operator(nick: "op\(n)", directory: directory, topics: ["swift", "linux", "music", "food"]).serve(rounds: 55) }
    }
    for wave in 0..<60 {
        await withTaskGroup(of: Void.self) { group in
            for k in 0..<8 {
                group.addTask { await Visitor(index: wave * 8 + k, directory: directory).visit() }
            }
        }
    }
    var read = 0
    for o in operators { read += await o.value }
    print(await directory.statistics(), "operators read", read)
}

await run()
