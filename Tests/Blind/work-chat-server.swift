import Foundation

final class ChatLine: Sendable {
    let author: String
    let text: String
    init(author: String, text: String) {
        self.author = author
        self.text = text
    }
}

actor Session {
    nonisolated let nick: String
    private var inbox: [ChatLine] = []
    private var waiter: CheckedContinuation<ChatLine?, Never>?
    private var ended = false
    private var kicked = false

    init(nick: String) { self.nick = nick }

    func receive() async -> ChatLine? {
        if !inbox.isEmpty { return inbox.removeFirst() }
        if ended { return nil }
        return await withCheckedContinuation { waiter = $0 }
    }

    func push(_ line: ChatLine) {
        guard !ended else { return }
        if let waiting = waiter {
            waiter = nil
            waiting.resume(returning: line)
        } else {
            inbox.append(line)
        }
    }

    func leave() {
        ended = true
        waiter?.resume(returning: nil)
        waiter = nil
    }

    func kick() {
        ended = true
        kicked = true
        inbox.removeAll()
    }
}

final class Participant: Sendable {
    let session: Session
    let room: Room
    init(session: Session, room: Room) {
        self.session = session
        self.room = room
    }

    func listen() async {
        var letters = 0
        var lines = 0
        while let line = await session.receive() {
            letters += line.text.count
            lines += 1
        }
        await room.listenerFinished(lines: lines, letters: letters)
    }
}

actor Room {
    private var sessions: [String: Session] = [:]
    private var strikes: [String: Int] = [:]
    private var recent: [ChatLine] = []
    private(set) var finishedListeners = 0
    private(set) var letters = 0
    private(set) var kicks = 0

    func join(_ session: Session) async {
        sessions[session.nick] = session
        for line in recent { await session.push(line) }
    }

    func leave(_ nick: String) async {
        strikes[nick] = nil
        guard let session = sessions.removeValue(forKey: nick) else { return }
        await session.leave()
    }

    func say(_ nick: String, _ text: String) async {
        guard sessions[nick] != nil else { return }
        if text.contains("buy now") {
            strikes[nick, default: 0] += 1
        }
        let line = ChatLine(author: nick, text: text)
        recent.append(line)
        if recent.count > 10 { recent.removeFirst() }
        for session in sessions.values where session.nick != nick { await session.push(line) }
    }

    func moderate() async {
        for (nick, count) in strikes where count >= 2 { await kick(nick) }
    }

    private func kick(_ nick: String) async {
        strikes[nick] = nil
        kicks += 1
        guard let session = sessions.removeValue(forKey: nick) else { return }
        await session.kick()
    }

    func listenerFinished(lines: Int, letters count: Int) {
        finishedListeners += 1
        letters += count
    }

    func nicks() -> [String] { sessions.keys.sorted() }
}

struct Visitor {
    let nick: String
    let stays: Int
    let spammer: Bool
}

func admit(_ visitor: Visitor, to room: Room) async {
    let session = Session(nick: visitor.nick)
    await room.join(session)
    let participant = Participant(session: session, room: room)
    Task { await participant.listen() }
}

func evening() async {
    let room = Room()
    var present: [(visitor: Visitor, until: Int)] = []
    var serial = 0
    let phrases = ["hello", "how was the match", "it is raining", "see you on monday", "good point"]
    for minute in 0..<200 {
        await room.moderate()
        if minute % 2 == 0 {
            serial += 1
            let visitor = Visitor(nick: "guest\(serial)", stays: 8 + serial * 7 % 20, spammer: serial % 6 == 0)
            await admit(visitor, to: room)
            present.append((visitor, minute + visitor.stays))
        }
        for (i, entry) in present.enumerated() where (i + minute) % 3 == 0 {
            let text = entry.visitor.spammer ? "cheap watches, buy now" : phrases[(i + minute) % phrases.count]
            await room.say(entry.visitor.nick, text)
        }
        for entry in present where entry.until <= minute { await room.leave(entry.visitor.nick) }
        present.removeAll { $0.until <= minute }
        try? await Task.sleep(nanoseconds: 8_000_000)
    }
    for nick in await room.nicks() { await room.leave(nick) }
    try? await Task.sleep(nanoseconds: 50_000_000)
    let finished = await room.finishedListeners
    let letters = await room.letters
    let kicks = await room.kicks
    print("\(serial) guests, \(finished) said goodbye, \(kicks) kicked, \(letters) letters read")
}

await evening()
