import Foundation

final class Sample: Sendable {
    let host: String
    let metric: String
    let second: Int
    let value: Int
    init(host: String, metric: String, second: Int, value: Int) {
        self.host = host
        self.metric = metric
        self.second = second
        self.value = value
    }
}

final class Bucket {
    let start: Int
    private(set) var count = 0
    private(set) var total = 0
    private(set) var peak = 0

    init(start: Int) { self.start = start }

    func add(_ sample: Sample) {
        count += 1
        total += sample.value
        peak = max(peak, sample.value)
    }
}

final class Series {
    let name: String
    private var fine: [Bucket] = []
    private var coarse: [Bucket] = []
    private let fineWidth = 5
    private let coarseWidth = 60

    init(name: String) { self.name = name }

    func add(_ sample: Sample) {
        bucket(for: sample.second, width: fineWidth, in: &fine).add(sample)
        bucket(for: sample.second, width: coarseWidth, in: &coarse).add(sample)
        let horizon = sample.second - 60
        fine.removeAll { $0.start < horizon }
    }

    private func bucket(for second: Int, width: Int, in list: inout [Bucket]) -> Bucket {
        let start = second / width * width
        if let found = list.last(where: { $0.start == start }) { return found }
        let fresh = Bucket(start: start)
        list.append(fresh)
        return fresh
    }

    func lastMinute() -> (mean: Int, peak: Int) {
        let count = fine.reduce(0) { $0 + $1.count }
        let total = fine.reduce(0) { $0 + $1.total }
        return (count == 0 ? 0 : total / count, fine.map { $0.peak }.max() ?? 0)
    }

    func busiest() -> Bucket? { coarse.max { $0.total < $1.total } }
    func trend() -> String {
        coarse.map { String($0.count == 0 ? 0 : $0.total / $0.count) }.joined(separator: " ")
    }
}

final class Alert: Sendable {
    let series: String
    let second: Int
    let peak: Int
    init(series: String, second: Int, peak: Int) {
        self.series = series
        self.second = second
        self.peak = peak
    }
}

actor Store {
    private var series: [String: Series] = [:]
    private var raised: [String: Alert] = [:]
    private var count = 0

    func ingest(_ sample: Sample) -> Alert? {
        count += 1
        let key = "\(sample.host)/\(sample.metric)"
        let target: Series
        if let known = series[key] {
            target = known
        } else {
            target = Series(name: key)
            series[key] = target
        }
        target.add(sample)
        let state = target.lastMinute()
        if sample.value > state.mean * 3, raised[key] == nil {
            let alert = Alert(series: key, second: sample.second, peak: sample.value)
            raised[key] = alert
            return alert
        }
        if let alert = raised[key], sample.second - alert.second > 30 { raised[key] = nil }
        return nil
    }

    func report() -> [String] {
        series.values.sorted { $0.name < $1.name }.map { s in
            let top = s.busiest()
            return "\(s.name) means [\(s.trend())] busiest minute at \(top?.start ?? 0)"
        }
    }

    var ingested: Int { count }
}

final class Agent: Sendable {
    let host: String
    let seed: Int
    init(host: String, seed: Int) {
        self.host = host
        self.seed = seed
    }

    func stream(seconds: Int) -> AsyncStream<Sample> {
        AsyncStream(bufferingPolicy: .bufferingNewest(200)) { continuation in
            let task = Task { [host, seed] in
                for second in 0..<seconds {
                    for (i, metric) in ["cpu", "disk"].enumerated() {
                        let wave = (second * (seed + i)) % 40
                        let spike = (second + seed * 7) % 83 == 0 ? 400 : 0
                        continuation.yield(Sample(host: host, metric: metric, second: second,
                                                  value: 20 + wave + spike))
                    }
                    try? await Task.sleep(nanoseconds: 4_500_000)
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}

func collect(hosts: Int, seconds: Int) async {
    let store = Store()
    let alerts = await withTaskGroup(of: Int.self) { group in
        for n in 0..<hosts {
            group.addTask {
                let agent = Agent(host: "host\(n)", seed: n + 3)
                var alerts = 0
                for await sample in agent.stream(seconds: seconds) {
                    if let alert = await store.ingest(sample), alert.peak > 300 { alerts += 1 }
                }
                return alerts
            }
        }
        return await group.reduce(0, +)
    }
    for line in await store.report() { print(line) }
    print("\(await store.ingested) samples, \(alerts) alerts")
}

await collect(hosts: 6, seconds: 360)
