import Foundation
import Dispatch

final class SessionRegistry {
    private let lock = NSLock()
    private var seen: [String: Int] = [:]
    private var total = 0

    func touch(_ name: String, tick: Int) {
        lock.lock()
        defer { lock.unlock() }
        seen[name] = tick
        total += 1
    }

    func remove(_ name: String) {
        lock.lock()
        defer { lock.unlock() }
        seen[name] = nil
    }

    var snapshot: (active: Int, touches: Int) {
        lock.lock()
        defer { lock.unlock() }
        return (seen.count, total)
    }
}

final class ConsulSession {
    let name: String
    private let registry: SessionRegistry
    private var timer: DispatchSourceTimer?
    private var tick = 0
    private var nonce = [UInt8](repeating: 1, count: 128)

    init(name: String, registry: SessionRegistry) {
        self.name = name
        self.registry = registry
    }

    func start(on queue: DispatchQueue) {
        let source = DispatchSource.makeTimerSource(queue: queue)
        source.schedule(deadline: .now() + .milliseconds(10), repeating: .milliseconds(60))
        source.setEventHandler { [weak self] in
            self?.renew()
        }
        source.resume()
        timer = source
    }

    private func renew() {
        tick += 1
        for i in nonce.indices {
            nonce[i] = nonce[i] &* 31 &+ UInt8(truncatingIfNeeded: tick &+ i)
        }
        registry.touch(name, tick: tick)
    }

    deinit {
        timer?.cancel()
        registry.remove(name)
    }
}

final class SessionPool {
    private let registry: SessionRegistry
    private let queue = DispatchQueue(label: "session.renewal")
    private var standing: [ConsulSession] = []

    init(registry: SessionRegistry, size: Int) {
        self.registry = registry
        for n in 0..<size {
            let session = ConsulSession(name: "standing-\(n)", registry: registry)
            session.start(on: queue)
            standing.append(session)
        }
    }

    func withTemporarySession<T>(_ name: String, _ body: (ConsulSession) -> T) -> T {
        let session = ConsulSession(name: name, registry: registry)
        session.start(on: queue)
        return body(session)
    }

    func drain() {
        standing.removeAll()
        queue.sync {}
    }
}

func elect(registry: SessionRegistry) -> [String] {
    let pool = SessionPool(registry: registry, size: 16)
    var leaders: [String] = []
    for term in 0..<24 {
        let leader = pool.withTemporarySession("candidate-\(term)") { session -> String in
            var votes: [Int: Int] = [:]
            for n in 0..<8_000 {
                votes[(n &* 2_654_435_761 &+ term) % 5, default: 0] += 1
            }
            Thread.sleep(forTimeInterval: 0.04)
            let winner = votes.max { ($0.value, $0.key) < ($1.value, $1.key) }!.key
            return "\(session.name)/\(winner)"
        }
        leaders.append(leader)
    }
    pool.drain()
    return leaders
}

let registry = SessionRegistry()
let leaders = elect(registry: registry)
Thread.sleep(forTimeInterval: 0.15)
let state = registry.snapshot
print("terms \(leaders.count), last \(leaders.last ?? "-"), active \(state.active), renewed \(state.touches > 40)")
