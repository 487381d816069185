import Foundation

enum Role {
    case speaker, listener, moderator
}

final class Membership {
    let user: String
    let room: String
    let role: Role
    let joinedAt: Int
    var messagesPosted = 0

    init(user: String, room: String, role: Role, joinedAt: Int) {
        self.user = user
        self.room = room
        self.role = role
        self.joinedAt = joinedAt
    }
}

final class Room {
    let name: String
    private(set) var members: [ObjectIdentifier: Membership] = [:]
    private(set) var transcriptLength = 0

    init(name: String) {
        self.name = name
    }

    func admit(_ membership: Membership) {
        members[ObjectIdentifier(membership)] = membership
    }

    func drop(_ membership: Membership) {
        members.removeValue(forKey: ObjectIdentifier(membership))
    }

    func post(by membership: Membership) {
        guard members[ObjectIdentifier(membership)] != nil else { return }
        membership.messagesPosted += 1
        transcriptLength += 1
    }
}

final class ChatServer {
    static let shared = ChatServer()

    private var rooms: [String: Room] = [:]
    private var membershipsByUser: [String: [Membership]] = [:]
    private(set) var kicked = 0
    private(set) var left = 0

    func room(_ name: String) -> Room {
        if let existing = rooms[name] { return existing }
        let created = Room(name: name)
        rooms[name] = created
        return created
    }

    func join(user: String, room name: String, role: Role, at clock: Int) -> Membership {
        let membership = Membership(user: user, room: name, role: role, joinedAt: clock)
        room(name).admit(membership)
        membershipsByUser[user, default: []].append(membership)
        return membership
    }

    func leave(_ membership: Membership) {
        room(membership.room).drop(membership)
        membershipsByUser[membership.user]?.removeAll { $0 === membership }
        left += 1
    }

    func kick(_ membership: Membership, reason: String) {
        guard membership.role != .moderator else { return }
        room(membership.room).drop(membership)
        kicked += 1
    }

    var population: Int { rooms.values.reduce(0) { $0 + $1.members.count } }
    func transcript(of name: String) -> Int { room(name).transcriptLength }
}

let server = ChatServer.shared
let roomNames = ["beekeeping", "retro-synths", "trail-running"]

func runSession(_ clock: Int) {
    let room = roomNames[clock % roomNames.count]
    let user = "user\(clock % 90)"
    let membership = server.join(user: user, room: room, role: clock % 2 == 0 ? .speaker : .listener, at: clock)
    let posts = clock % 6
    for _ in 0..<posts {
        server.room(room).post(by: membership)
    }
    if posts == 5 {
        server.kick(membership, reason: "flooding")
    } else {
        server.leave(membership)
    }
}

for clock in 0..<1800 {
    runSession(clock)
}

print("left: \(server.left), kicked: \(server.kicked), present: \(server.population)")
for name in roomNames {
    print("\(name): \(server.transcript(of: name)) messages")
}
