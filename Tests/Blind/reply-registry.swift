import Foundation

struct CallTimeout: Error { let id: Int }

final class Envelope: @unchecked Sendable {
    let id: Int
    let method: String
    init(id: Int, method: String) {
        self.id = id
        self.method = method
    }
}

final class PendingCall: @unchecked Sendable {
    let id: Int
    let batch: Int
    let arguments: [String]
    private var continuation: CheckedContinuation<String, Error>?

    init(id: Int, batch: Int, arguments: [String], continuation: CheckedContinuation<String, Error>) {
        self.id = id
        self.batch = batch
        self.arguments = arguments
        self.continuation = continuation
    }

    var isOpen: Bool { continuation != nil }

    func settle(_ result: Result<String, Error>) {
        continuation?.resume(with: result)
        continuation = nil
    }
}

final class ReplyRegistry: @unchecked Sendable {
    private let lock = NSLock()
    private var pending: [Int: PendingCall] = [:]

    func add(_ call: PendingCall) {
        lock.withLock { pending[call.id] = call }
    }

    func resolve(_ id: Int, with value: String) {
        let call = lock.withLock { pending.removeValue(forKey: id) }
        call?.settle(.success(value))
    }

    func expire(batch: Int) {
        let late = lock.withLock { pending.values.filter { $0.batch == batch && $0.isOpen } }
        for call in late { call.settle(.failure(CallTimeout(id: call.id))) }
    }
}

final class RemoteService: @unchecked Sendable {
    let registry: ReplyRegistry
    init(registry: ReplyRegistry) { self.registry = registry }

    func serve(_ inbox: AsyncStream<Envelope>, batch: Int, expected: Int) async {
        var seen = 0
        for await envelope in inbox {
            seen += 1
            if envelope.id % 10 != 7 { registry.resolve(envelope.id, with: "\(envelope.method) ok") }
            if seen == expected { break }
        }
        try? await Task.sleep(nanoseconds: 40_000_000)
        registry.expire(batch: batch)
    }
}

@main
struct ReplyRegistryApp {
    static let registry = ReplyRegistry()
    static let service = RemoteService(registry: registry)

    static func main() async {
        var answered = 0
        var timedOut = 0
        for batch in 0..<20 {
            let (inbox, outbox) = AsyncStream.makeStream(of: Envelope.self)
            async let serving: Void = service.serve(inbox, batch: batch, expected: 30)
            await withTaskGroup(of: Bool.self) { group in
                for n in 0..<30 {
                    let id = batch * 30 + n
                    group.addTask {
                        let reply = try? await withCheckedThrowingContinuation { (c: CheckedContinuation<String, Error>) in
                            registry.add(PendingCall(id: id, batch: batch, arguments: ["item-\(id)", "full"], continuation: c))
                            outbox.yield(Envelope(id: id, method: "lookup"))
                        }
                        return reply != nil
                    }
                }
                for await ok in group { if ok { answered += 1 } else { timedOut += 1 } }
            }
            await serving
        }
        print("answered \(answered), timed out \(timedOut)")
    }
}
