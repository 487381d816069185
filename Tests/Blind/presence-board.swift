import Foundation

enum Presence: String, Sendable {
    case online, away, busy, offline
}

final class PresenceHub: @unchecked Sendable {
    typealias Event = (user: String, presence: Presence)

    private let lock = NSLock()
    private var sinks: [UUID: AsyncStream<Event>.Continuation] = [:]
    private var state: [String: Presence] = [:]

    func events() -> AsyncStream<Event> {
        let key = UUID()
        let (stream, sink) = AsyncStream.makeStream(of: Event.self)
        sink.onTermination = { [weak self] _ in self?.remove(key) }
        let known: [String: Presence] = lock.withLock {
            sinks[key] = sink
            return state
        }
        for (user, presence) in known { sink.yield((user, presence)) }
        return stream
    }

    private func remove(_ key: UUID) {
        lock.lock()
        let old = sinks.removeValue(forKey: key)
        lock.unlock()
        _ = old
    }

    func update(_ user: String, _ presence: Presence) {
        let targets: [AsyncStream<Event>.Continuation] = lock.withLock {
            state[user] = presence
            return Array(sinks.values)
        }
        targets.forEach { $0.yield((user, presence)) }
    }

    var listeners: Int { lock.withLock { sinks.count } }
}

final class Badge: @unchecked Sendable {
    let user: String
    private let lock = NSLock()
    private var presence = Presence.offline
    private var changes = 0
    private var feed: Task<Void, Never>?

    init(user: String) { self.user = user }

    func open(_ hub: PresenceHub) {
        let events = hub.events()
        feed = Task {
            for await event in events where event.user == self.user {
                self.show(event.presence)
            }
        }
    }

    private func show(_ presence: Presence) {
        lock.withLock {
            self.presence = presence
            changes += 1
        }
    }

    func close() {
        feed?.cancel()
        feed = nil
    }

    var label: String { lock.withLock { "\(user):\(presence.rawValue)" } }
}

final class Board {
    private let hub: PresenceHub
    private var badges: [String: Badge] = [:]
    private(set) var closed = 0

    init(hub: PresenceHub) { self.hub = hub }

    func pin(_ user: String) {
        unpin(user)
        let badge = Badge(user: user)
        badge.open(hub)
        badges[user] = badge
    }

    func unpin(_ user: String) {
        guard let badge = badges.removeValue(forKey: user) else { return }
        badge.close()
        closed += 1
    }

    var labels: [String] { badges.values.map(\.label).sorted() }
}

let hub = PresenceHub()
let board = Board(hub: hub)
let people = (1...16).map { "emp\($0)" }
let moods: [Presence] = [.online, .away, .busy, .offline]

for person in people { board.pin(person) }
for round in 0..<12 {
    for (n, person) in people.enumerated() { hub.update(person, moods[(n + round) % 4]) }
    if round % 3 == 2 {
        for person in people.prefix(8) { board.pin(person) }
    }
    try await Task.sleep(for: .milliseconds(20))
}
for person in people.dropFirst(4) { board.unpin(person) }

for round in 0..<20 {
    for (n, person) in people.enumerated() { hub.update(person, moods[(n * 3 + round) % 4]) }
    try await Task.sleep(for: .milliseconds(20))
}
print("\(board.labels.joined(separator: " ")), \(board.closed) closed, \(hub.listeners) listening")
