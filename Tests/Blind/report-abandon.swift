import Foundation

final class SymbolRequest: Sendable {
    let id: Int
    let payload: [UInt8]

    init(id: Int) {
        self.id = id
        payload = [UInt8](repeating: 3, count: 512)
    }
}

/// A peer that answers only some requests.
final class SilentPeer: Sendable {
    func answers(_ id: Int) -> Bool { id % 3 != 0 }
}

final class Connection: @unchecked Sendable {
    private struct Outstanding {
        let request: SymbolRequest
        let reply: CheckedContinuation<Int, any Error>
    }

    private let peer = SilentPeer()
    private let lock = NSLock()
    private var outstanding: [Int: Outstanding] = [:]
    private var abandoned = 0

    func send(_ request: SymbolRequest) async throws -> Int {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (reply: CheckedContinuation<Int, any Error>) in
                lock.withLock { outstanding[request.id] = Outstanding(request: request, reply: reply) }
                if Task.isCancelled {
                    abandonRequest(id: request.id)
                } else if peer.answers(request.id) {
                    deliver(id: request.id, value: request.payload.count)
                }
            }
        } onCancel: {
            abandonRequest(id: request.id)
        }
    }

    private func deliver(id: Int, value: Int) {
        let entry = lock.withLock { outstanding.removeValue(forKey: id) }
        entry?.reply.resume(returning: value)
    }

    private func abandonRequest(id: Int) {
        let entry = lock.withLock {
            abandoned += outstanding[id] == nil ? 0 : 1
            return outstanding.removeValue(forKey: id)
        }
        entry?.reply.resume(throwing: CancellationError())
    }

    var outstandingCount: Int { lock.withLock { outstanding.count } }
    var abandonedCount: Int { lock.withLock { abandoned } }
}

func resolveSymbols(_ total: Int, on connection: Connection) async -> Int {
    var answered = 0
    for id in 0..<total {
        let request = SymbolRequest(id: id)
        let task = Task { try await connection.send(request) }
        if id % 3 == 0 {
            while connection.outstandingCount == 0 { await Task.yield() }
            task.cancel()
        }
        if case .success = await task.result { answered += 1 }
        try? await Task.sleep(nanoseconds: 2_000_000)
    }
    return answered
}

let connection = Connection()
let answered = await resolveSymbols(150, on: connection)
print("answered \(answered), abandoned \(connection.abandonedCount), outstanding \(connection.outstandingCount)")
