import Foundation

struct Sample: Sendable {
    let series: String
    let value: Double
}

actor SampleStore {
    private var latest: [String: Double] = [:]
    private var order: [String] = []
    private let capacity = 64

    func put(_ batch: [Sample]) {
        for sample in batch {
            if latest.updateValue(sample.value, forKey: sample.series) == nil {
                order.append(sample.series)
            }
        }
        while order.count > capacity {
            latest[order.removeFirst()] = nil
        }
    }

    var isFull: Bool { order.count == capacity }
}

struct TargetSpec: Sendable {
    let host: String
    let port: Int
    let interval: Duration
}

/// Polls one target until `stop()`.
final class TargetPoller: @unchecked Sendable {
    let spec: TargetSpec
    private let store: SampleStore
    private let lock = NSLock()
    private var scrapes = 0
    private var loop: Task<Void, Never>?

    init(spec: TargetSpec, store: SampleStore) {
        self.spec = spec
        self.store = store
    }

    func start() {
        loop = Task {
            while !Task.isCancelled {
                await self.store.put(self.scrape())
                do {
                    try await Task.sleep(for: self.spec.interval)
                } catch {
                    break
                }
            }
        }
    }

    private func scrape() -> [Sample] {
        let n = lock.withLock { () -> Int in
            scrapes += 1
            return scrapes
        }
        return [
            Sample(series: "\(spec.host):\(spec.port)/up", value: 1),
            Sample(series: "\(spec.host):\(spec.port)/requests", value: Double(n * spec.port)),
        ]
    }

    func stop() {
        loop?.cancel()
    }
}

actor ScrapePool {
    private var pollers: [String: TargetPoller] = [:]
    private let store: SampleStore
    private var added = 0
    private var removed = 0

    init(store: SampleStore) {
        self.store = store
    }

    func add(_ spec: TargetSpec) {
        let key = spec.host.lowercased()
        guard pollers[key] == nil else { return }
        let poller = TargetPoller(spec: spec, store: store)
        pollers[key] = poller
        poller.start()
        added += 1
    }

    func remove(host: String) {
        removed += 1
        guard let poller = pollers.removeValue(forKey: host) else { return }
        poller.stop()
    }

    var totals: (added: Int, removed: Int) { (added, removed) }
}

enum DiscoveryEvent: Sendable {
    case up(TargetSpec)
    case down(String)
}

/// A scripted service discovery: instances come up and go down some rounds later.
struct Discovery {
    let rounds: Int
    let perRound = 8

    private func host(_ index: Int) -> String {
        index % 10 == 7 ? "Db-Replica-\(index)" : "web-\(index)"
    }

    private func lifetime(_ index: Int) -> Int { 1 + index % 3 }

    func events(round: Int) -> [DiscoveryEvent] {
        var events: [DiscoveryEvent] = []
        if round < rounds {
            for index in (round * perRound)..<((round + 1) * perRound) {
                events.append(.up(TargetSpec(host: host(index), port: 9100 + index % 4,
                                             interval: .milliseconds(5 + index % 9))))
            }
        }
        for age in 1...3 where (0..<rounds).contains(round - age) {
            let born = round - age
            for index in (born * perRound)..<((born + 1) * perRound) where lifetime(index) == age {
                events.append(.down(host(index)))
            }
        }
        return events
    }
}

@main
struct Scraper {
    static func main() async throws {
        let store = SampleStore()
        let pool = ScrapePool(store: store)
        let core = (0..<5).map { "core-\($0)" }
        for (index, host) in core.enumerated() {
            await pool.add(TargetSpec(host: host, port: 9000 + index, interval: .milliseconds(15)))
        }

        let discovery = Discovery(rounds: 30)
        for round in 0..<33 {
            for event in discovery.events(round: round) {
                switch event {
                case .up(let spec): await pool.add(spec)
                case .down(let host): await pool.remove(host: host)
                }
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        for host in core { await pool.remove(host: host) }
        try await Task.sleep(for: .milliseconds(60))

        let totals = await pool.totals
        print("targets added=\(totals.added) removed=\(totals.removed)")
        print("store full: \(await store.isFull)")
    }
}
