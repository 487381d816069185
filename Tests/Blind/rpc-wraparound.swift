import Foundation

struct Reply: Sendable {
    let id: Int
    let body: String
}

actor RPCChannel {
    private var nextID = 0
    private var pending: [Int: CheckedContinuation<Reply, Never>] = [:]
    private(set) var issued = 0
    private(set) var answered = 0

    func call(_ method: String, _ argument: Int) async -> Reply {
        let id = nextID % 16
        nextID += 1
        return await withCheckedContinuation { continuation in
            pending[id] = continuation
            issued += 1
        }
    }

    func deliver(_ reply: Reply) {
        guard let continuation = pending.removeValue(forKey: reply.id) else { return }
        answered += 1
        continuation.resume(returning: reply)
    }

    /// What the fake peer sees on the wire.
    var outstanding: [Int] { pending.keys.sorted() }
}

final class LedgerClient: Sendable {
    let channel: RPCChannel
    init(channel: RPCChannel) { self.channel = channel }

    func sendBurst(_ n: Int) {
        for i in 0..<n {
            Task {
                let account = "acct-\(i)"
                let reply = await self.channel.call("balance", i)
                Self.log(account, reply)
            }
        }
    }

    private static func log(_ account: String, _ reply: Reply) {
        precondition(!account.isEmpty && !reply.body.isEmpty)
    }
}

@main
struct LedgerMain {
    static let channel = RPCChannel()

    static func main() async throws {
        let client = LedgerClient(channel: channel)
        var expected = 0
        for burst in [12, 10, 24, 8, 16, 5] {
            expected += burst
            client.sendBurst(burst)
            while await channel.issued < expected {
                try await Task.sleep(for: .milliseconds(3))
            }
            for id in await channel.outstanding {
                await channel.deliver(Reply(id: id, body: "ok"))
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        try await Task.sleep(for: .milliseconds(150))
        print("ledger answered:", await channel.answered)
    }
}
