// The lobby of a text game: clients connect from several threads, chat for a while and leave.
import Foundation

struct Token: Hashable {
    let high: UInt32
    let low: UInt32

    init(thread: Int, sequence: Int) {
        high = UInt32(truncatingIfNeeded: thread &* 40_503 &+ 977)
        low = UInt32(truncatingIfNeeded: sequence &* 69_069 &+ thread)
    }
}

final class ClientSession {
    let serial: Int
    let nick: String
    let token: Token
    var inbox: [String] = []
    var sent = 0
    var open = true

    init(serial: Int, nick: String, token: Token) {
        self.serial = serial
        self.nick = nick
        self.token = token
    }
}

final class Room {
    let title: String
    private var members: [Int: ClientSession] = [:]
    private(set) var lines = 0

    init(title: String) {
        self.title = title
    }

    func enter(_ session: ClientSession) {
        members[session.serial] = session
    }

    func leave(_ session: ClientSession) {
        members[session.serial] = nil
    }

    func say(_ text: String, by session: ClientSession) {
        lines += 1
        session.sent += 1
        for member in members.values where member !== session {
            if member.inbox.count >= 5 {
                member.inbox.removeFirst()
            }
            member.inbox.append(text)
        }
    }
}

final class Lobby {
    private let lock = NSLock()
    private var online: [Int: ClientSession] = [:]
    private var byToken: [Token: ClientSession] = [:]
    private let rooms: [Room]
    private var nextSerial = 1
    private(set) var closed = 0

    init(rooms: [String]) {
        self.rooms = rooms.map(Room.init(title:))
    }

    func connect(nick: String, token: Token) {
        lock.lock()
        defer { lock.unlock() }
        let session = ClientSession(serial: nextSerial, nick: nick, token: token)
        nextSerial += 1
        online[session.serial] = session
        byToken[token] = session
        room(for: session).enter(session)
    }

    func post(_ text: String, token: Token) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        guard let session = byToken[token], session.open else { return false }
        room(for: session).say("\(session.nick): \(text)", by: session)
        return true
    }

    func close(token: Token) {
        lock.lock()
        defer { lock.unlock() }
        guard let session = byToken[token], session.open else { return }
        session.open = false
        session.inbox.removeAll()
        room(for: session).leave(session)
        online.removeValue(forKey: session.serial)
        closed += 1
    }

    private func room(for session: ClientSession) -> Room {
        rooms[session.nick.utf8.count % rooms.count]
    }

    func summary() -> String {
        lock.lock()
        defer { lock.unlock() }
        let total = rooms.reduce(0) { $0 + $1.lines }
        return "online \(online.count), closed \(closed), lines \(total)"
    }
}

let lobby = Lobby(rooms: ["Tavern", "Harbour", "Old Mill"])
let phrases = ["hello", "who is there?", "brb", "good game", "trade?"]
let workers = DispatchGroup()

for number in 0..<4 {
    workers.enter()
    let thread = Thread {
        var active: [Token] = []
        for sequence in 0..<300 {
            let token = Token(thread: number, sequence: sequence)
            lobby.connect(nick: "player\(number)x\(sequence)", token: token)
            active.append(token)
            for (position, member) in active.enumerated() {
                _ = lobby.post(phrases[(sequence + position) % phrases.count], token: member)
            }
            if active.count > 6 {
                lobby.close(token: active.removeFirst())
            }
            if sequence % 3 == 0 {
                usleep(1500)
            }
        }
        for token in active {
            lobby.close(token: token)
        }
        workers.leave()
    }
    thread.start()
}
workers.wait()
print("lobby: \(lobby.summary())")
