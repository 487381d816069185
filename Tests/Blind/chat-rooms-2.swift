import Foundation

/// Room service of the chat backend. Keeps a short backlog per room for people who join late.

struct RoomPolicy {
    let backlog: Int
    let maxMembers: Int
    static let standard = RoomPolicy(backlog: 25, maxMembers: 8)
}

final class Post {
    let number: Int
    let author: String
    let text: String
    let words: Int

    init(number: Int, author: String, text: String) {
        self.number = number
        self.author = author
        self.text = text
        self.words = text.split(separator: " ").count
    }

    func rendered(for member: String) -> String {
        text.contains("@\(member)") ? "!! \(author): \(text)" : "\(author): \(text)"
    }
}

final class ChatRoom {
    let name: String
    let policy: RoomPolicy
    private var members: [String] = []
    private var backlog: [Post] = []
    private(set) var posted = 0
    private(set) var sentBytes = 0

    init(name: String, policy: RoomPolicy) {
        self.name = name
        self.policy = policy
        backlog.reserveCapacity(policy.backlog + 1)
    }

    func enter(_ member: String) -> Int {
        members.append(member)
        if members.count > policy.maxMembers { members.removeFirst() }
        return backlog.reduce(0) { $0 + $1.rendered(for: member).utf8.count }
    }

    func publish(author: String, text: String) {
        posted += 1
        let post = Post(number: posted, author: author, text: text)
        backlog.append(post)
        if backlog.count > policy.backlog {
            backlog.removeFirst(backlog.count - policy.backlog)
        }
        for member in members where member != author {
            sentBytes += post.rendered(for: member).utf8.count
        }
    }

    var averageWords: Double {
        guard !backlog.isEmpty else { return 0 }
        return Double(backlog.reduce(0) { $0 + $1.words }) / Double(backlog.count)
    }
}

struct ChatService {
    private var rooms: [String: ChatRoom] = [:]
    private var order: [String] = []

    mutating func open(_ name: String) {
        rooms[name] = ChatRoom(name: name, policy: .standard)
        order.append(name)
    }

    func enter(_ member: String, at index: Int) -> Int {
        rooms[order[index % order.count]]?.enter(member) ?? 0
    }

    func broadcast(author: String, text: String) {
        for name in order { rooms[name]?.publish(author: author, text: "\(text) (\(name))") }
    }

    func summary() -> String {
        let posts = rooms.values.reduce(0) { $0 + $1.posted }
        let sent = rooms.values.reduce(0) { $0 + $1.sentBytes }
        let words = order.compactMap { rooms[$0]?.averageWords }.reduce(0, +) / Double(max(order.count, 1))
        return "posts=\(posts) sent=\(sent / 1024)KiB words/post=\(String(format: "%.2f", words))"
    }
}

var service = ChatService()
for index in 0..<36 { service.open("channel-\(index)") }

let members = ["ada", "bruno", "chloe", "dmitri", "eve", "farid", "greta"]
let lines = [
    "ticket 4411 is fixed", "who owns the gateway?", "@greta your branch conflicts",
    "release notes are ready for @bruno", "rebooting the runner", "metrics look odd after midnight",
]

var backlogBytes = 0
for tick in 0..<85 {
    for offset in 0..<3 {
        backlogBytes += service.enter(members[(tick + offset) % members.count], at: tick * 7 + offset * 11)
    }
    service.broadcast(author: members[(tick * 3) % members.count], text: lines[tick % lines.count])
    if tick % 25 == 24 { print("tick \(tick + 1): \(service.summary())") }
    usleep(10_000)
}
print("closing: \(service.summary()) backlog served=\(backlogBytes / 1024)KiB")
