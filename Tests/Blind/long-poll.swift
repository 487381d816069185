import Foundation

struct Change: Sendable {
    let revision: Int
    let key: String
}

actor LongPollHub {
    static let shared = LongPollHub()
    private var waiting: [Int: CheckedContinuation<Change, Never>] = [:]
    private var ticket = 0
    private(set) var revision = 0
    private(set) var delivered = 0

    func wait() async -> Change {
        ticket += 1
        let mine = ticket
        return await withCheckedContinuation { continuation in
            waiting[mine] = continuation
        }
    }

    func publish(_ key: String) {
        revision += 1
        let change = Change(revision: revision, key: key)
        let all = waiting
        waiting.removeAll()
        for continuation in all.values {
            delivered += 1
            continuation.resume(returning: change)
        }
    }

    var parked: Int { waiting.count }
}

final class PollClient: Sendable {
    let name: String
    init(name: String) { self.name = name }

    /// Polls until it has seen the wanted revision.
    func run(until revision: Int) async -> Int {
        var seen = 0
        while true {
            let change = await LongPollHub.shared.wait()
            seen += 1
            if change.revision >= revision { return seen }
        }
    }
}

@main
struct ConfigServer {
    static func main() async throws {
        let hub = LongPollHub.shared
        for round in 1...6 {
            for n in 0..<5 {
                let client = PollClient(name: "client-\(round)-\(n)")
                Task {
                    let seen = await client.run(until: round * 2)
                    precondition(seen >= 1)
                }
            }
            while await hub.parked < 5 { try await Task.sleep(for: .milliseconds(3)) }
            if round == 6 { break }
            await hub.publish("flags/\(round)")
            while await hub.parked < 5 { try await Task.sleep(for: .milliseconds(3)) }
            await hub.publish("limits/\(round)")
            try await Task.sleep(for: .milliseconds(20))
        }
        print("config changes delivered:", await hub.delivered)
        exit(0)
    }
}
