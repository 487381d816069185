import Foundation

struct MetricKey: Hashable {
    let label: String
    let dimensions: [String]
}

final class CounterHandler: @unchecked Sendable {
    let key: MetricKey
    private let lock = NSLock()
    private var value: Int64 = 0

    init(key: MetricKey) { self.key = key }

    func increment(by amount: Int64) { lock.withLock { value += amount } }
    var total: Int64 { lock.withLock { value } }
}

final class MetricsRegistry: @unchecked Sendable {
    static let shared = MetricsRegistry()

    private let lock = NSLock()
    private var counters: [MetricKey: CounterHandler] = [:]

    func makeCounter(label: String, dimensions: [String]) -> CounterHandler {
        let key = MetricKey(label: label, dimensions: dimensions)
        return lock.withLock {
            if let existing = counters[key] { return existing }
            let handler = CounterHandler(key: key)
            counters[key] = handler
            return handler
        }
    }

    func destroyCounter(_ handler: CounterHandler) {
        _ = lock.withLock { counters.removeValue(forKey: handler.key) }
    }

    var count: Int { lock.withLock { counters.count } }
}

struct Counter {
    private let handler: CounterHandler

    init(label: String, dimensions: [String]) {
        handler = MetricsRegistry.shared.makeCounter(label: label, dimensions: dimensions)
    }

    func increment(by amount: Int64 = 1) { handler.increment(by: amount) }
    var total: Int64 { handler.total }
    func destroy() { MetricsRegistry.shared.destroyCounter(handler) }
}

final class UploadSession {
    private let bytes: Counter
    private let parts: Counter

    init(number: Int) {
        bytes = Counter(label: "upload.bytes", dimensions: ["session=\(number)"])
        parts = Counter(label: "upload.parts", dimensions: ["session=\(number)"])
    }

    func receive(_ size: Int) {
        bytes.increment(by: Int64(size))
        parts.increment()
    }

    func finish() -> Int64 {
        defer {
            bytes.destroy()
            parts.destroy()
        }
        return bytes.total / max(parts.total, 1)
    }
}

func handleUploads(_ total: Int) -> Int64 {
    let accepted = Counter(label: "upload.accepted", dimensions: [])
    var average: Int64 = 0
    for number in 0..<total {
        let session = UploadSession(number: number)
        for part in 1...(number % 5 + 1) { session.receive(part * 100) }
        average += session.finish()
        accepted.increment()
        usleep(3_000)
    }
    return average / accepted.total
}

let average = handleUploads(140)
print("140 uploads, average part \(average) bytes, \(MetricsRegistry.shared.count) counters registered")
