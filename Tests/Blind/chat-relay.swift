import Foundation

/// Relay process for the internal chat: joins users to rooms and fans out posts.

struct Lcg {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next(_ bound: Int) -> Int {
        state = state &* 6364136223846793005 &+ 1442695040888963407
        return Int((state >> 33) % UInt64(bound))
    }
}

final class ChatMessage {
    let sequence: Int
    let author: String
    let body: String
    let mentions: [String]

    init(sequence: Int, author: String, body: String, mentions: [String]) {
        self.sequence = sequence
        self.author = author
        self.body = body
        self.mentions = mentions
    }

    var wireForm: String { "#\(sequence) <\(author)> \(body)" }
}

final class Room {
    let topic: String
    private var members: [String] = []
    private var transcript: [ChatMessage] = []
    private(set) var fanOut = 0
    private(set) var bytesOut = 0

    init(topic: String) { self.topic = topic }

    /// New members get the last lines so they can follow the conversation.
    func join(_ user: String) -> [String] {
        members.append(user)
        return transcript.suffix(15).map { $0.wireForm }
    }

    func leaveOldest() {
        if members.count > 6 { members.removeFirst() }
    }

    func post(_ sequence: Int, author: String, body: String) {
        let mentions = body.split(separator: " ").filter { $0.hasPrefix("@") }.map { String($0.dropFirst()) }
        let message = ChatMessage(sequence: sequence, author: author, body: body, mentions: mentions)
        transcript.append(message)
        let wire = message.wireForm
        for member in members where member != author {
            fanOut += 1
            bytesOut += wire.utf8.count + (mentions.contains(member) ? 8 : 0)
        }
    }
}

final class Relay {
    private let rooms: [Room]
    private var sequence = 0
    private var replayed = 0

    init(roomCount: Int) {
        rooms = (0..<roomCount).map { Room(topic: "team-\($0)") }
    }

    func arrive(user: String, room index: Int) {
        let backlog = rooms[index % rooms.count].join(user)
        replayed += backlog.count
        rooms[index % rooms.count].leaveOldest()
    }

    func round(author: String, text: String) {
        for room in rooms {
            sequence += 1
            room.post(sequence, author: author, body: "[\(room.topic)] \(text)")
        }
    }

    var statusLine: String {
        let deliveries = rooms.reduce(0) { $0 + $1.fanOut }
        let kib = rooms.reduce(0) { $0 + $1.bytesOut } / 1024
        return "rooms=\(rooms.count) posts=\(sequence) deliveries=\(deliveries) out=\(kib)KiB replayed=\(replayed)"
    }
}

let phrases = [
    "deploy finished on staging", "can someone review the patch @mira", "standup in five minutes",
    "the build is green again", "@ola please rotate the keys", "lunch at the usual place?",
    "latency looks fine since noon", "rolling back the config change @piet",
]
let people = ["mira", "ola", "piet", "samir", "june", "tomas", "ines", "wei"]

var random = Lcg(seed: 77)
let relay = Relay(roomCount: 40)

for tick in 0..<80 {
    for _ in 0..<4 {
        relay.arrive(user: people[random.next(people.count)], room: random.next(40))
    }
    let text = phrases[random.next(phrases.count)] + " " + phrases[random.next(phrases.count)]
    relay.round(author: people[tick % people.count], text: text)
    if tick % 20 == 19 { print("tick \(tick + 1): \(relay.statusLine)") }
    Thread.sleep(forTimeInterval: 0.01)
}
print("shutdown: \(relay.statusLine)")
