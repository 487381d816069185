// The door server of a maker space: people log in with their badge, sessions come and go, users are remembered.
import Foundation
import Dispatch

enum Level: Int {
    case visitor, member, keyholder
}

final class User {
    let badge: Int
    let name: String
    var level: Level
    var logins = 0
    var failed = 0

    init(badge: Int, name: String, level: Level) {
        self.badge = badge
        self.name = name
        self.level = level
    }
}

final class Session {
    let number: Int
    let user: User
    let door: String
    var actions = 0

    init(number: Int, user: User, door: String) {
        self.number = number
        self.user = user
        self.door = door
    }
}

enum DoorError: Error {
    case wrongPin
    case notAllowed(Level)
}

final class DoorServer: @unchecked Sendable {
    private let queue = DispatchQueue(label: "door-server")
    private var users: [Int: User] = [:]
    private var sessions: [Int: Session] = [:]
    private var sessionsByDoor: [String: [Int: Session]] = [:]
    private var nextSession = 1
    private(set) var actions = 0

    func login(badge: Int, pin: Int, door: String) throws -> Int {
        try queue.sync {
            let user = known(badge)
            guard pin == badge % 9_973 else {
                user.failed += 1
                throw DoorError.wrongPin
            }
            user.logins += 1
            if user.logins == 3 && user.failed == 0 {
                user.level = .keyholder
            }
            guard door != "workshop" || user.level != .visitor else {
                throw DoorError.notAllowed(user.level)
            }
            let session = Session(number: nextSession, user: user, door: door)
            nextSession += 1
            sessions[session.number] = session
            sessionsByDoor[door, default: [:]][session.number] = session
            return session.number
        }
    }

    func act(in number: Int) {
        queue.sync {
            sessions[number]?.actions += 1
        }
    }

    func logout(_ number: Int) {
        queue.sync {
            guard let session = sessions.removeValue(forKey: number) else { return }
            sessionsByDoor[session.door]?[number] = nil
            actions += session.actions
        }
    }

    private func known(_ badge: Int) -> User {
        if let user = users[badge] { return user }
        let user = User(badge: badge, name: "person \(badge)", level: badge % 3 == 0 ? .visitor : .member)
        users[badge] = user
        return user
    }

    func report() -> [String] {
        queue.sync {
            let all = users.values.sorted { $0.badge < $1.badge }
            let keyholders = all.filter { $0.level == .keyholder }
            let regular = all.max { ($0.logins, -$0.badge) < ($1.logins, -$1.badge) }
            return [
                "users \(all.count), keyholders \(keyholders.count), open sessions \(sessions.count)",
                "sessions so far \(nextSession - 1), actions \(actions)",
                "most regular: \(regular?.name ?? "-") with \(regular?.logins ?? 0) logins",
                "failed pins: \(all.reduce(0) { $0 + $1.failed })",
            ]
        }
    }
}

final class BadgeReader: @unchecked Sendable {
    let door: String
    let first: Int
    private(set) var refused = 0

    init(door: String, first: Int) {
        self.door = door
        self.first = first
    }

    func run(evenings: Int, server: DoorServer) {
        for evening in 0..<evenings {
            var open: [Int] = []
            for guest in 0..<40 {
                let crowd = 60 + evening * 15
                let badge = first + (evening * 17 + guest * 13) % crowd
                let pin = (evening + guest) % 23 == 0 ? 1 : badge % 9_973
                do {
                    let session = try server.login(badge: badge, pin: pin, door: door)
                    for _ in 0..<(guest % 4) {
                        server.act(in: session)
                    }
                    open.append(session)
                } catch {
                    refused += 1
                }
                if open.count > 10 {
                    server.logout(open.removeFirst())
                }
            }
            open.forEach(server.logout)
            usleep(6_000)
        }
    }
}

let server = DoorServer()
let readers = [
    BadgeReader(door: "main", first: 10_000),
    BadgeReader(door: "workshop", first: 20_000),
    BadgeReader(door: "yard", first: 30_000),
]
DispatchQueue.concurrentPerform(iterations: readers.count) { index in
    readers[index].run(evenings: 30, server: server)
}
for line in server.report() {
    print(line)
}
for reader in readers {
    print("door \(reader.door): refused \(reader.refused)")
}
