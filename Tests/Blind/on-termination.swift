import Foundation

final class Observer: Sendable {
    let id: Int
    let continuation: AsyncStream<Int>.Continuation
    init(id: Int, continuation: AsyncStream<Int>.Continuation) {
        self.id = id
        self.continuation = continuation
    }
}

final class SensorBus: @unchecked Sendable {
    static let shared = SensorBus()
    private let lock = NSLock()
    private var observers: [Int: Observer] = [:]
    private var nextID = 0

    func values() -> AsyncStream<Int> {
        AsyncStream { continuation in
            let id: Int = lock.withLock {
                nextID += 1
                observers[nextID] = Observer(id: nextID, continuation: continuation)
                return nextID
            }
            continuation.onTermination = { [weak self] _ in
                self?.remove(id)
            }
        }
    }

    private func remove(_ id: Int) {
        lock.withLock { _ = observers.removeValue(forKey: id) }
    }

    func publish(_ value: Int) {
        let all = lock.withLock { Array(observers.values) }
        for observer in all { observer.continuation.yield(value) }
    }

    var count: Int { lock.withLock { observers.count } }
}

final class Averager: @unchecked Sendable {
    private var window: [Int] = []
    func consume(_ stream: AsyncStream<Int>, limit: Int) async -> Int {
        for await value in stream {
            window.append(value)
            if window.count == limit { break }
        }
        return window.reduce(0, +) / max(window.count, 1)
    }
}

@main
struct ClimateControl {
    static func main() async throws {
        let bus = SensorBus.shared
        var sum = 0
        for round in 0..<6 {
            var tasks: [Task<Int, Never>] = []
            for n in 0..<12 {
                let stream = bus.values()
                let averager = Averager()
                tasks.append(Task { await averager.consume(stream, limit: n < 8 ? 4 : 1_000) })
            }
            for value in 0..<12 {
                bus.publish(20 + value + round)
                try await Task.sleep(for: .milliseconds(4))
            }
            for task in tasks.suffix(4) { task.cancel() }
            for task in tasks { sum += await task.value }
        }
        var patience = 0
        while bus.count > 0, patience < 50 {
            patience += 1
            try await Task.sleep(for: .milliseconds(10))
        }
        print("average sum \(sum > 0), observers left \(bus.count)")
    }
}
