import Foundation

actor RateLimiter {
    static let shared = RateLimiter(perTick: 5)
    private let perTick: Int
    private var tokens: Int
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private(set) var granted = 0

    init(perTick: Int) {
        self.perTick = perTick
        tokens = perTick
    }

    func acquire() async {
        if tokens > 0 {
            tokens -= 1
            granted += 1
            return
        }
        await withCheckedContinuation { waiters.append($0) }
        granted += 1
    }

    func refill() {
        tokens = perTick
        while tokens > 0, !waiters.isEmpty {
            tokens -= 1
            waiters.removeFirst().resume()
        }
    }

    func runRefill() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(10))
            refill()
        }
    }

    var queued: Int { waiters.count }
}

final class APIRequest: Sendable {
    let id: Int
    let payload: [UInt8]
    init(id: Int) {
        self.id = id
        payload = [UInt8](repeating: UInt8(id & 0xff), count: 2048)
    }
}

actor Responder {
    static let shared = Responder()
    private(set) var sent = 0
    func send(_ request: APIRequest) { sent += request.payload.isEmpty ? 0 : 1 }
}

func handle(_ request: APIRequest) async {
    await RateLimiter.shared.acquire()
    try? await Task.sleep(for: .milliseconds(4))
    await Responder.shared.send(request)
}

@main
struct RateLimitedServer {
    static func main() async throws {
        Task { await RateLimiter.shared.runRefill() }
        var id = 0
        for round in 1...6 {
            for _ in 0..<20 {
                id += 1
                let request = APIRequest(id: id)
                Task { await handle(request) }
            }
            if round < 6 {
                while await Responder.shared.sent < id {
                    try await Task.sleep(for: .milliseconds(5))
                }
            }
        }
        // SIGTERM comes while the last requests are being served.
        try await Task.sleep(for: .milliseconds(18))
        print("server stopped early:", await Responder.shared.sent >= 100)
        exit(0)
    }
}
