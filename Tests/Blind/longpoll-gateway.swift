import Foundation

struct Event: Sendable {
    let channel: Int
    let body: String
}

actor EventBus {
    static let shared = EventBus()
    private var waiters: [UUID: (channel: Int, continuation: CheckedContinuation<Event?, Never>)] = [:]

    func nextEvent(on channel: Int) async -> Event? {
        let id = UUID()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled {
                    continuation.resume(returning: nil)
                } else {
                    waiters[id] = (channel, continuation)
                }
            }
        } onCancel: {
            Task { await self.cancel(id) }
        }
    }

    private func cancel(_ id: UUID) {
        waiters.removeValue(forKey: id)?.continuation.resume(returning: nil)
    }

    func post(_ event: Event) {
        for (id, waiter) in waiters where waiter.channel == event.channel {
            waiters[id] = nil
            waiter.continuation.resume(returning: event)
        }
    }

    var waiting: Int { waiters.count }
}

final class LongPoll: Sendable {
    let request: Int
    let channel: Int
    let deadline: Duration

    init(request: Int, channel: Int, deadline: Duration) {
        self.request = request
        self.channel = channel
        self.deadline = deadline
    }

    func response() async -> String {
        await withTaskGroup(of: Event?.self) { race in
            race.addTask { await EventBus.shared.nextEvent(on: self.channel) }
            race.addTask {
                try? await Task.sleep(for: self.deadline)
                return nil
            }
            let winner = await race.next() ?? nil
            race.cancelAll()
            guard let event = winner else { return "204" }
            return "200 \(event.body)"
        }
    }
}

actor Gateway {
    static let shared = Gateway()
    private var open: [Int: LongPoll] = [:]
    private var statuses: [String: Int] = [:]

    func accept(_ request: Int, channel: Int, deadline: Duration) {
        let poll = LongPoll(request: request, channel: channel, deadline: deadline)
        open[request] = poll
        Task {
            let text = await poll.response()
            self.complete(request, text)
        }
    }

    private func complete(_ request: Int, _ text: String) {
        open[request] = nil
        statuses[String(text.prefix(3)), default: 0] += 1
    }

    var openCount: Int { open.count }
    var summary: [String: Int] { statuses }
}

@main
struct Server {
    static func main() async throws {
        let gateway = Gateway.shared
        let bus = EventBus.shared
        for request in 0..<120 {
            switch request % 3 {
            case 0: await gateway.accept(request, channel: 1, deadline: .seconds(30))
            case 1: await gateway.accept(request, channel: 2, deadline: .milliseconds(40))
            default: await gateway.accept(request, channel: 3 + request % 5, deadline: .seconds(30))
            }
        }
        while await gateway.summary["204", default: 0] < 40 {
            try await Task.sleep(for: .milliseconds(5))
        }
        while await bus.waiting > 80 {
            try await Task.sleep(for: .milliseconds(2))
        }
        await bus.post(Event(channel: 1, body: "deploy finished"))
        while await gateway.openCount > 40 {
            try await Task.sleep(for: .milliseconds(2))
        }
        try? await Task.sleep(for: .milliseconds(20))
        let summary = await gateway.summary
        print("200: \(summary["200", default: 0]), 204: \(summary["204", default: 0])")
        print("open polls: \(await gateway.openCount), waiting: \(await bus.waiting)")
    }
}
