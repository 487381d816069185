import Foundation

struct Reading: Sendable {
    let sensor: Int
    let value: Double
}

final class Subscriber: @unchecked Sendable {
    let id: Int
    let label: String
    let continuation: AsyncStream<Reading>.Continuation
    var delivered = 0
    var recent: [Double] = []

    init(id: Int, label: String, continuation: AsyncStream<Reading>.Continuation) {
        self.id = id
        self.label = label
        self.continuation = continuation
    }

    func push(_ reading: Reading) {
        delivered += 1
        recent.append(reading.value)
        if recent.count > 16 { recent.removeFirst() }
        continuation.yield(reading)
    }
}

actor Broadcaster {
    private var subscribers: [Int: Subscriber] = [:]
    private var nextID = 0

    func subscribe(label: String) -> (Int, AsyncStream<Reading>) {
        let id = nextID
        nextID += 1
        let (stream, continuation) = AsyncStream.makeStream(of: Reading.self, bufferingPolicy: .bufferingNewest(8))
        continuation.onTermination = { [weak self] reason in
            guard case .cancelled = reason else { return }
            Task { await self?.drop(id) }
        }
        subscribers[id] = Subscriber(id: id, label: label, continuation: continuation)
        return (id, stream)
    }

    func publish(_ reading: Reading) {
        for subscriber in subscribers.values { subscriber.push(reading) }
    }

    func kick(_ id: Int) {
        subscribers[id]?.continuation.finish()
    }

    private func drop(_ id: Int) {
        subscribers.removeValue(forKey: id)
    }
}

final class Dashboard: @unchecked Sendable {
    let title: String
    private(set) var sum = 0.0
    init(title: String) { self.title = title }

    func follow(_ stream: AsyncStream<Reading>) async {
        for await reading in stream { sum += reading.value }
    }
}

@main
struct IngestApp {
    static let hub = Broadcaster()

    static func main() async {
        var closedByServer = 0
        for wave in 0..<20 {
            var watchers: [(Int, Task<Void, Never>)] = []
            for n in 0..<20 {
                let board = Dashboard(title: "board-\(wave)-\(n)")
                let (id, stream) = await hub.subscribe(label: board.title)
                watchers.append((id, Task { await board.follow(stream) }))
            }
            for r in 0..<30 { await hub.publish(Reading(sensor: r % 4, value: Double(r))) }
            try? await Task.sleep(nanoseconds: 40_000_000)
            for (id, task) in watchers {
                if id % 10 == 3 {
                    await hub.kick(id)
                    closedByServer += 1
                } else {
                    task.cancel()
                }
                await task.value
            }
        }
        try? await Task.sleep(nanoseconds: 200_000_000)
        print("waves done, closed by server: \(closedByServer)")
    }
}
