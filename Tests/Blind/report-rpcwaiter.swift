import Foundation

struct RpcReply: Sendable {
    let id: Int
    let status: Int
}

final class HttpExchange: @unchecked Sendable {
    let id: Int
    let body: [UInt8]
    private(set) var status = 0

    init(id: Int) {
        self.id = id
        body = [UInt8](repeating: UInt8(id % 256), count: 1_024)
    }

    func respond(with reply: RpcReply) { status = reply.status }
}

actor RpcTransport {
    private var responseWaiters: [Int: CheckedContinuation<RpcReply, Never>] = [:]
    private var runningJobs: Set<Int> = []
    private(set) var replies = 0

    func handle(_ id: Int) async -> RpcReply {
        runningJobs.insert(id)
        return await withCheckedContinuation { continuation in
            responseWaiters[id] = continuation
        }
    }

    func isWaiting(_ id: Int) -> Bool { responseWaiters[id] != nil }

    /// Delivers the result of a job to the waiting exchange.
    func send(_ reply: RpcReply) {
        guard runningJobs.remove(reply.id) != nil else { return }
        replies += 1
        responseWaiters.removeValue(forKey: reply.id)?.resume(returning: reply)
    }

    /// The protocol sends no reply for a cancelled request.
    func receiveCancelled(_ id: Int) {
        runningJobs.remove(id)
    }
}

struct Client {
    let transport: RpcTransport

    func post(_ id: Int) async -> Bool {
        let exchange = HttpExchange(id: id)
        let task = Task {
            let reply = await transport.handle(exchange.id)
            exchange.respond(with: reply)
        }
        while await !transport.isWaiting(id) { await Task.yield() }
        if id % 4 == 1 {
            await transport.receiveCancelled(id)
            await transport.send(RpcReply(id: id, status: 200))
            return false
        }
        await transport.send(RpcReply(id: id, status: 200))
        await task.value
        return exchange.status == 200
    }
}

func main() async {
    let transport = RpcTransport()
    let client = Client(transport: transport)
    var answered = 0
    for id in 0..<192 {
        if await client.post(id) { answered += 1 }
        try? await Task.sleep(nanoseconds: 1_500_000)
    }
    print("answered \(answered) of 192, replies \(await transport.replies)")
}

await main()
