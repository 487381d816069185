import Foundation

struct ScoreEvent: Sendable {
    let match: Int
    let score: String
}

final class Subscriber: Sendable {
    let id: UUID
    let continuation: AsyncStream<ScoreEvent>.Continuation
    init(continuation: AsyncStream<ScoreEvent>.Continuation) {
        id = UUID()
        self.continuation = continuation
    }
}

actor ScoreBroadcaster {
    static let shared = ScoreBroadcaster()
    private var subscribers: [Subscriber] = []

    func subscribe() -> AsyncStream<ScoreEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: ScoreEvent.self, bufferingPolicy: .bufferingNewest(16))
        subscribers.append(Subscriber(continuation: continuation))
        return stream
    }

    func publish(_ event: ScoreEvent) {
        for subscriber in subscribers { subscriber.continuation.yield(event) }
    }

    func finishAll(_ ids: Set<UUID>) {
        subscribers.removeAll { s in
            guard ids.contains(s.id) else { return false }
            s.continuation.finish()
            return true
        }
    }

    var newest: Set<UUID> { Set(subscribers.suffix(2).map(\.id)) }
    var count: Int { subscribers.count }
}

struct Viewer: Sendable {
    let name: String
    /// Watches until it has seen enough goals, then switches off.
    func watch(_ stream: AsyncStream<ScoreEvent>, goals: Int) async -> Int {
        var seen = 0
        for await event in stream {
            seen += event.score.isEmpty ? 0 : 1
            if seen == goals { break }
        }
        return seen
    }
}

@main
struct SportsFeed {
    static func main() async throws {
        let broadcaster = ScoreBroadcaster.shared
        var goals = 0
        for match in 1...5 {
            var viewers: [Task<Int, Never>] = []
            for n in 0..<14 {
                let stream = await broadcaster.subscribe()
                // The last two of each match stay until the whistle.
                let limit = n < 12 ? 3 : Int.max
                viewers.append(Task { await Viewer(name: "v\(n)").watch(stream, goals: limit) })
            }
            let season = await broadcaster.newest
            for minute in 0..<10 {
                await broadcaster.publish(ScoreEvent(match: match, score: "\(minute):0"))
                try await Task.sleep(for: .milliseconds(5))
            }
            await broadcaster.finishAll(season)
            for viewer in viewers { goals += await viewer.value }
        }
        print("goals seen:", goals, "match over")
    }
}
