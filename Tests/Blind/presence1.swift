import Foundation

struct ChatMessage: Sendable {
    let room: String
    let author: String
    let text: String
}

/// Keeps track of who is active and who went idle in one room.
final class RoomPresence: @unchecked Sendable {
    let room: String
    private let lock = NSLock()
    private var lastSeen: [String: Int] = [:]
    private var clock = 0
    private var idleEvents = 0
    private var sweeper: Task<Void, Never>?

    init(room: String) {
        self.room = room
    }

    func activate(interval: Duration) {
        sweeper = Task {
            while !Task.isCancelled {
                self.sweep(idleAfter: 40)
                try? await Task.sleep(for: interval)
            }
        }
    }

    func touch(_ member: String) {
        lock.withLock {
            clock += 1
            lastSeen[member] = clock
        }
    }

    func leave(_ member: String) -> Int {
        lock.withLock {
            lastSeen[member] = nil
            return lastSeen.count
        }
    }

    private func sweep(idleAfter limit: Int) {
        lock.withLock {
            for (_, seen) in lastSeen where clock - seen > limit {
                idleEvents += 1
            }
        }
    }

    deinit {
        sweeper?.cancel()
    }
}

actor ChatServer {
    private var rooms: [String: RoomPresence] = [:]
    private var history: [String: [ChatMessage]] = [:]
    private(set) var delivered = 0
    private(set) var retired = 0

    func join(_ member: String, room: String) {
        if let presence = rooms[room] {
            presence.touch(member)
            return
        }
        let presence = RoomPresence(room: room)
        presence.activate(interval: .milliseconds(120))
        presence.touch(member)
        rooms[room] = presence
    }

    func post(_ message: ChatMessage) {
        rooms[message.room]?.touch(message.author)
        history[message.room, default: []].append(message)
        if history[message.room]!.count > 20 {
            history[message.room]!.removeFirst()
        }
        delivered += 1
    }

    func part(_ member: String, room: String) {
        guard let presence = rooms[room] else { return }
        if presence.leave(member) == 0 {
            rooms[room] = nil
            history[room] = nil
            retired += 1
        }
    }

    var openRooms: Int { rooms.count }
}

@main
struct ChatService {
    static func main() async throws {
        let server = ChatServer()
        let people = ["ana", "bo", "cyrus", "dora", "eli"]

        for wave in 0..<4 {
            await withTaskGroup(of: Void.self) { group in
                for slot in 0..<6 {
                    group.addTask {
                        let room = "match-\(wave)-\(slot)"
                        for name in people {
                            await server.join(name, room: room)
                        }
                        for n in 0..<60 {
                            let author = people[(n * 7 + slot) % people.count]
                            await server.post(ChatMessage(room: room, author: author, text: "move \(n)"))
                            if n % 20 == 0 { try? await Task.sleep(for: .milliseconds(15)) }
                        }
                        for name in people {
                            await server.part(name, room: room)
                        }
                    }
                }
            }
            try await Task.sleep(for: .milliseconds(150))
        }
        let delivered = await server.delivered
        let retired = await server.retired
        print("delivered \(delivered) messages, retired \(retired) rooms, \(await server.openRooms) open")
    }
}
