import Foundation

enum Role: Sendable {
    case guest
    case member
    case moderator
}

struct Member: Sendable {
    let name: String
    let role: Role
    let stay: Int
}

actor RoomLog {
    private(set) var joins = 0
    private(set) var farewells = 0
    private var typing: Set<String> = []

    func joined(_ name: String) { joins += 1 }
    func farewell(_ name: String) { farewells += 1 }
    func markTyping(_ name: String) { typing.insert(name) }
    func clearTyping(_ name: String) { typing.remove(name) }
}

/// Presence of one member in one room: expires the typing mark and keeps the last-seen time fresh.
actor PresenceSession {
    let member: Member
    private let log: RoomLog
    private var closed = false
    private var muted = false
    private var typingTicks = 0
    private var freshness = 0
    private var pump: Task<Void, Never>?

    init(member: Member, log: RoomLog) {
        self.member = member
        self.log = log
    }

    func begin() async {
        await log.joined(member.name)
        pump = Task { await self.run() }
    }

    private func run() async {
        while !closed {
            freshness += 1
            if typingTicks > 0 {
                typingTicks -= 1
                if typingTicks == 0 { await log.clearTyping(member.name) }
            }
            try? await Task.sleep(nanoseconds: 7_000_000)
        }
    }

    func type() async {
        guard !muted else { return }
        typingTicks = 2
        await log.markTyping(member.name)
    }

    func mute() { muted = true }

    func leave() async {
        await log.clearTyping(member.name)
        if muted {
            return
        }
        await log.farewell(member.name)
        closed = true
    }
}

actor Room {
    let title: String
    private let log: RoomLog
    private var sessions: [String: PresenceSession] = [:]
    private var mutedNames: [String] = []

    init(title: String, log: RoomLog) {
        self.title = title
        self.log = log
    }

    func enter(_ member: Member) async {
        let session = PresenceSession(member: member, log: log)
        sessions[member.name] = session
        await session.begin()
    }

    func say(_ name: String, _ text: String) async {
        guard let session = sessions[name] else { return }
        await session.type()
        if text.hasPrefix("BUY") {
            mutedNames.append(name)
            await session.mute()
        }
    }

    func exit(_ name: String) async {
        guard let session = sessions.removeValue(forKey: name) else { return }
        await session.leave()
    }

    var occupancy: Int { sessions.count }
    var mutedCount: Int { mutedNames.count }
}

func visit(_ room: Room, _ member: Member, spam: Bool) async {
    await room.enter(member)
    for step in 0..<member.stay {
        await room.say(member.name, spam && step == 1 ? "BUY NOW" : "message \(step)")
        try? await Task.sleep(nanoseconds: 6_000_000)
    }
    await room.exit(member.name)
}

@main
struct PresenceServer {
    static func main() async throws {
        let log = RoomLog()
        let rooms = ["lobby", "swift", "ops", "games"].map { Room(title: $0, log: log) }

        await withTaskGroup(of: Void.self) { group in
            for room in rooms {
                let host = Member(name: "host", role: .moderator, stay: 120)
                group.addTask { await visit(room, host, spam: false) }
            }
            for wave in 0..<14 {
                for seat in 0..<14 {
                    let number = wave * 14 + seat
                    let member = Member(name: "visitor\(number)", role: number % 5 == 0 ? .guest : .member,
                                        stay: 2 + number % 6)
                    let room = rooms[number % rooms.count]
                    let spam = number % 10 == 4
                    group.addTask { await visit(room, member, spam: spam) }
                }
                try? await Task.sleep(nanoseconds: 40_000_000)
            }
        }
        try await Task.sleep(nanoseconds: 50_000_000)

        var present = 0
        var muted = 0
        for room in rooms {
            present += await room.occupancy
            muted += await room.mutedCount
        }
        print("joins=\(await log.joins) farewells=\(await log.farewells) present=\(present) muted=\(muted)")
    }
}
