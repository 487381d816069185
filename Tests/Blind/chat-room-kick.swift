import Foundation

struct ChatLine: Sendable {
    let author: String
    let text: String
}

final class Room: @unchecked Sendable {
    let title: String
    private let lock = NSLock()
    private var outlets: [Int: AsyncStream<ChatLine>.Continuation] = [:]
    private var nextTicket = 0
    private var delivered = 0
    private var farewells: [String] = []

    init(title: String) {
        self.title = title
    }

    func join() -> (ticket: Int, lines: AsyncStream<ChatLine>) {
        let (lines, outlet) = AsyncStream.makeStream(of: ChatLine.self)
        return lock.withLock {
            nextTicket += 1
            outlets[nextTicket] = outlet
            return (nextTicket, lines)
        }
    }

    func leave(_ ticket: Int) {
        let outlet = lock.withLock { outlets.removeValue(forKey: ticket) }
        outlet?.finish()
    }

    func post(_ line: ChatLine) {
        let targets = lock.withLock { Array(outlets.values) }
        for outlet in targets {
            outlet.yield(line)
        }
    }

    func noteDelivery() {
        lock.withLock { delivered += 1 }
    }

    func noteFarewell(_ text: String) {
        lock.withLock { farewells.append(text) }
    }

    var deliveries: Int { lock.withLock { delivered } }
    var goodbyes: [String] { lock.withLock { farewells.sorted() } }
}

final class ChatMember: @unchecked Sendable {
    let nick: String
    private let room: Room
    private let ticket: Int
    private var scrollback: [String] = []

    init(nick: String, room: Room) {
        self.nick = nick
        self.room = room
        let (ticket, lines) = room.join()
        self.ticket = ticket
        Task {
            for await line in lines {
                self.scrollback.append("<\(line.author)> \(line.text)")
                room.noteDelivery()
            }
            room.noteFarewell("\(self.nick) read \(self.scrollback.count) lines")
        }
    }

    func quit() {
        room.leave(ticket)
    }
}

final class Moderator {
    private let room: Room
    private var roster: [String: ChatMember] = [:]
    private(set) var banned: Set<String> = []

    init(room: Room) {
        self.room = room
    }

    func admit(_ nick: String) -> Bool {
        guard !banned.contains(nick), roster[nick] == nil else { return false }
        roster[nick] = ChatMember(nick: nick, room: room)
        return true
    }

    func part(_ nick: String) {
        guard let member = roster.removeValue(forKey: nick) else { return }
        member.quit()
    }

    func kick(_ nick: String, reason: String) {
        guard roster.removeValue(forKey: nick) != nil else { return }
        banned.insert(nick)
        room.post(ChatLine(author: "moderator", text: "\(nick) was removed: \(reason)"))
    }

    var present: [String] { roster.keys.sorted() }
}

let room = Room(title: "#compilers")
let moderator = Moderator(room: room)
let nicks = ["ada", "bo", "cyd", "dan", "eve", "fay", "gus", "hal", "ivy", "jon", "kim", "leo", "mia", "ned", "oz"]
for nick in nicks where !moderator.admit(nick) {
    print("could not admit \(nick)")
}

room.post(ChatLine(author: "host", text: "welcome to the weekly call"))
room.post(ChatLine(author: "host", text: "agenda: register allocation"))
while room.deliveries < nicks.count * 2 {
    try? await Task.sleep(for: .milliseconds(2))
}

for troublemaker in ["dan", "jon", "oz"] {
    moderator.kick(troublemaker, reason: "flooding")
}
print("readmitted dan:", moderator.admit("dan"))

let remaining = moderator.present
for nick in remaining {
    moderator.part(nick)
}
while room.goodbyes.count < remaining.count {
    try? await Task.sleep(for: .milliseconds(2))
}
try? await Task.sleep(for: .milliseconds(20))
print("\(room.title): \(room.goodbyes.count) said goodbye, \(moderator.banned.count) banned")
print(room.goodbyes.prefix(3).joined(separator: "; "))
