import Foundation

final class Presence {
    let nickname: String
    let room: String
    let joinedAt: Int
    var messages = 0

    init(nickname: String, room: String, joinedAt: Int) {
        self.nickname = nickname
        self.room = room
        self.joinedAt = joinedAt
    }
}

final class PresenceService {
    private var byKey: [String: Presence] = [:]

    func enter(_ presence: Presence) {
        let key = "\(presence.room)#\(presence.nickname.lowercased())@\(presence.joinedAt / 60)"
        byKey[key] = presence
    }

    @discardableResult
    func exit(room: String, nickname: String, joinedAt: Int) -> Presence? {
        return byKey.removeValue(forKey: "\(room)#\(nickname)@\(joinedAt / 60)")
    }

    func find(room: String, nickname: String, joinedAt: Int) -> Presence? {
        byKey["\(room)#\(nickname.lowercased())@\(joinedAt / 60)"]
    }
}

struct Line {
    let room: String
    let nickname: String
    let text: String
}

final class ChatServer {
    private let presence = PresenceService()
    private var lineCount: [String: Int] = [:]
    private var words = 0
    private var now = 0
    private(set) var visits = 0

    func visit(nickname: String, room: String, script: [String]) {
        now += 45
        let joined = now
        presence.enter(Presence(nickname: nickname, room: room, joinedAt: joined))
        visits += 1
        for text in script {
            now += 7
            post(Line(room: room, nickname: nickname, text: text), joined: joined)
        }
        presence.exit(room: room, nickname: nickname, joinedAt: joined)
    }

    private func post(_ line: Line, joined: Int) {
        guard let author = presence.find(room: line.room, nickname: line.nickname, joinedAt: joined) else {
            return
        }
        author.messages += 1
        lineCount[line.room, default: 0] += 1
        words += line.text.split(separator: " ").count
    }

    func summary() {
        for room in lineCount.keys.sorted() {
            print("#\(room): \(lineCount[room]!) lines")
        }
        print("visits \(visits), words \(words), clock \(now)")
    }
}

let server = ChatServer()
let nicknames = ["moss", "Ottoline", "kestrel", "juniper", "BirdOfPrey", "quill", "tam", "Xylo"]
let rooms = ["gardening", "retro-computing", "sourdough"]
let phrases = [
    "good morning everyone",
    "has anyone tried the new compost",
    "mine rose twice overnight",
    "looking for a floppy drive belt",
    "brb",
    "that fixed it thank you",
]

var seed: UInt32 = 2166136261
func choose(_ n: Int) -> Int {
    seed = (seed ^ 0x5bd1e995) &* 16777619
    seed ^= seed >> 15
    return Int(seed % UInt32(n))
}

for _ in 0..<1600 {
    let script = (0..<(1 + choose(4))).map { _ in phrases[choose(phrases.count)] }
    server.visit(nickname: nicknames[choose(nicknames.count)],
                 room: rooms[choose(rooms.count)],
                 script: script)
}
server.summary()
