import Foundation

final class Bucketed {
    let start: Int
    private(set) var counts = [Int](repeating: 0, count: 32)
    init(start: Int) { self.start = start }

    func add(_ value: Int) { counts[min(31, value / 8)] += 1 }

    func merge(_ other: Bucketed) {
        for i in counts.indices { counts[i] += other.counts[i] }
    }

    func percentile(_ fraction: Double) -> Int {
        let total = counts.reduce(0, +)
        var seen = 0
        for (i, count) in counts.enumerated() {
            seen += count
            if Double(seen) >= Double(total) * fraction { return i * 8 }
        }
        return 256
    }
}

final class Series {
    let name: String
    private var seconds: [Bucketed] = []
    private(set) var minutes: [Bucketed] = []

    init(name: String) { self.name = name }

    func record(_ value: Int, at second: Int) {
        if seconds.last?.start != second { seconds.append(Bucketed(start: second)) }
        seconds.last?.add(value)
    }

    func rollUp(before second: Int) {
        let done = seconds.filter { $0.start < second }
        guard let first = done.first else { return }
        let minute = Bucketed(start: first.start)
        done.forEach(minute.merge)
        minutes.append(minute)
        seconds.removeAll { $0.start < second }
    }
}

final class Sample {
    let series: String
    let value: Int
    init(series: String, value: Int) {
        self.series = series
        self.value = value
    }
}

final class Aggregator {
    private var series: [String: Series] = [:]
    private var queue: [Sample] = []

    func submit(_ sample: Sample) { queue.append(sample) }

    func flush(second: Int) {
        for sample in queue {
            let target = series[sample.series] ?? Series(name: sample.series)
            series[sample.series] = target
            target.record(sample.value, at: second)
        }
        queue.removeAll(keepingCapacity: true)
    }

    func rollUp(before second: Int) { series.values.forEach { $0.rollUp(before: second) } }

    func report() -> [String] {
        let minutes = series.values.flatMap { $0.minutes }
        let whole = Bucketed(start: 0)
        minutes.forEach(whole.merge)
        return ["series \(series.count), stored windows \(minutes.count)",
                "p50 \(whole.percentile(0.5)) p99 \(whole.percentile(0.99))"]
    }
}

let aggregator = Aggregator()
for second in 0..<120 {
    for k in 0..<40 {
        let service = k % (second < 90 ? 12 : 16)
        aggregator.submit(Sample(series: "svc-\(service)", value: (second * 7 + k * 31) % 260))
    }
    aggregator.flush(second: second)
    if second % 4 == 3 { aggregator.rollUp(before: second + 1) }
    Thread.sleep(forTimeInterval: 0.009)
}
for line in aggregator.report() { print(line) }
