import Foundation

protocol RoomListener: AnyObject { func room(_ name: String, said text: ChatLine) }

final class ChatLine {
    let author: Int
    let text: String
    init(author: Int, text: String) { self.author = author; self.text = text }
}

final class Room {
    let name: String
    private var listeners: [RoomListener] = []
    init(name: String) { self.name = name }
    func join(_ l: RoomListener) { listeners.append(l) }
    func leave(_ l: RoomListener) { listeners.removeAll { $0 === l } }
    func say(_ line: ChatLine) { for l in listeners { l.room(name, said: line) } }
    var size: Int { listeners.count }
}

final class Session: RoomListener {
    let user: Int
    private var backlog: [ChatLine] = []
    private var rooms: [Room] = []
    private(set) var received = 0
    init(user: Int) { self.user = user }

    func enter(_ r: Room) { rooms.append(r); r.join(self) }
    func room(_ name: String, said line: ChatLine) {
        received += 1
        if line.author != user { backlog.append(line) }
        if backlog.count > 8 { backlog.removeFirst(4) }
    }
    func send(_ text: String) {
        let line = ChatLine(author: user, text: text)
        rooms.forEach { $0.say(line) }
    }
    func close() {
        rooms.forEach { $0.leave(self) }
        rooms.removeAll()
        backlog.removeAll()
    }
}

final class Hub {
    private var rooms: [String: Room] = [:]
    private var sessions: [Int: Session] = [:]
    private(set) var closed = 0
    init() { for n in ["lobby", "help", "games", "music"] { rooms[n] = Room(name: n) } }

    func login(_ user: Int) {
        let s = Session(user: user)
        s.enter(rooms["lobby"]!)
        s.enter(rooms[["help", "games", "music"][user % 3]]!)
        sessions[user] = s
    }
    func logout(_ user: Int) {
        guard let s = sessions.removeValue(forKey: user) else { return }
        s.close()
        closed += 1
    }
    func talk(_ user: Int, _ text: String) { sessions[user]?.send(text) }
    var open: Int { sessions.count }
    var presence: Int { rooms.values.reduce(0) { $0 + $1.size } }
    var received: Int { sessions.values.reduce(0) { $0 + $1.received } }
}

@main
enum ChatServer {
    static let hub = Hub()
    static func main() {
        var user = 0
        for hour in 0..<12 {
            for _ in 0..<30 {
                user += 1
                hub.login(user)
                if user > 3 { hub.talk(user - user % 4, "good evening everybody, it is hour \(hour)") }
            }
            // regulars (every fifth user) stay, the others go after an hour or so
            for u in max(1, user - 45)...max(1, user - 15) where u % 5 != 0 { hub.logout(u) }
        }
        print("open \(hub.open) closed \(hub.closed) presence \(hub.presence) received \(hub.received)")
    }
}
