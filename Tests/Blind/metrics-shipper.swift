import Foundation

final class MetricSample {
    let name: String
    let value: Double
    let timestamp: Int

    init(name: String, value: Double, timestamp: Int) {
        self.name = name
        self.value = value
        self.timestamp = timestamp
    }
}

final class SampleQueue {
    private var items: [MetricSample] = []
    private let lock = NSLock()

    func push(_ sample: MetricSample) {
        lock.lock()
        items.append(sample)
        lock.unlock()
    }

    func pop(max: Int) -> [MetricSample] {
        lock.lock()
        defer { lock.unlock() }
        let batch = Array(items.prefix(max))
        items.removeFirst(batch.count)
        return batch
    }

    var count: Int {
        lock.lock()
        defer { lock.unlock() }
        return items.count
    }
}

final class WireBatch {
    private(set) var lines: [String] = []
    func add(_ sample: MetricSample) {
        lines.append("\(sample.name) \(Int(sample.value * 100)) \(sample.timestamp)")
    }
    var size: Int { lines.reduce(0) { $0 + $1.utf8.count + 1 } }
}

final class MetricsShipper {
    private let queue: SampleQueue
    private let batchSize = 6
    private(set) var shipped = 0
    private(set) var bytes = 0

    init(queue: SampleQueue) { self.queue = queue }

    func tick() {
        let batch = WireBatch()
        for sample in queue.pop(max: batchSize) {
            batch.add(sample)
            shipped += 1
        }
        bytes += batch.size
    }
}

let queue = SampleQueue()
let shipper = MetricsShipper(queue: queue)
let names = ["cpu", "mem", "disk", "net.rx", "net.tx"]

for tick in 0..<125 {
    for n in 0..<10 {
        let value = Double((tick * 37 + n * 11) % 100) / 100
        queue.push(MetricSample(name: names[n % names.count], value: value, timestamp: tick))
    }
    shipper.tick()
}
print("shipped \(shipper.shipped) bytes \(shipper.bytes) queued \(queue.count)")
