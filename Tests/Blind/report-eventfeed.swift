import Foundation
import Dispatch

enum FeedEvent: Sendable {
    case open
    case message(String)
    case error(Int)
    case closed
}

struct FeedRequest: Sendable {
    let path: String
    let messages: Int
    let status: Int
}

final class FeedConnection: Sendable {
    private let request: FeedRequest
    private let queue: DispatchQueue

    init(request: FeedRequest, queue: DispatchQueue) {
        self.request = request
        self.queue = queue
    }

    func events() -> AsyncStream<FeedEvent> {
        AsyncStream { continuation in
            queue.async { [request] in
                guard request.status == 200 else {
                    continuation.yield(.error(request.status))
                    return
                }
                continuation.yield(.open)
                for index in 0..<request.messages {
                    continuation.yield(.message("\(request.path) #\(index)"))
                }
                continuation.yield(.closed)
                continuation.finish()
            }
        }
    }
}

final class FeedReader: @unchecked Sendable {
    private let lock = NSLock()
    private var history: [String] = []
    private var failures = 0

    func read(_ connection: FeedConnection) async {
        for await event in connection.events() {
            lock.withLock {
                switch event {
                case .message(let text): history.append(text)
                case .error: failures += 1
                case .open, .closed: break
                }
            }
        }
    }

    var count: Int { lock.withLock { history.count } }
    var hasFailed: Bool { lock.withLock { failures > 0 } }
}

struct Totals {
    var messages = 0
    var failures = 0
}

func follow(feeds: Int) async -> Totals {
    let queue = DispatchQueue(label: "feed.network")
    var totals = Totals()
    for index in 0..<feeds {
        let request = FeedRequest(path: "/feed/\(index)", messages: 5, status: index % 4 == 2 ? 502 : 200)
        let reader = FeedReader()
        let task = Task {
            await reader.read(FeedConnection(request: request, queue: queue))
        }
        if request.status == 200 {
            await task.value
        } else {
            while !reader.hasFailed { try? await Task.sleep(nanoseconds: 500_000) }
        }
        totals.messages += reader.count
        totals.failures += reader.hasFailed ? 1 : 0
        try? await Task.sleep(nanoseconds: 1_000_000)
    }
    return totals
}

let totals = await follow(feeds: 180)
print("180 feeds, \(totals.messages) messages, \(totals.failures) failures")
