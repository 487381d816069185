import Foundation

final class Sample {
    let name: String
    let value: Double
    init(name: String, value: Double) { self.name = name; self.value = value }
}

final class Batch {
    var samples: [Sample] = []
    let opened: Int
    init(opened: Int) { self.opened = opened }
}

final class BoundedQueue {
    private var slots: [Sample?]
    private var head = 0
    private(set) var count = 0
    private(set) var dropped = 0
    init(capacity: Int) { slots = Array(repeating: nil, count: capacity) }
    func offer(_ s: Sample) {
        if count == slots.count {
            slots[head] = nil
            head = (head + 1) % slots.count
            count -= 1
            dropped += 1
        }
        slots[(head + count) % slots.count] = s
        count += 1
    }
    func poll() -> Sample? {
        guard count > 0 else { return nil }
        let s = slots[head]
        slots[head] = nil
        head = (head + 1) % slots.count
        count -= 1
        return s
    }
}

final class BatchWriter {
    private var current = Batch(opened: 0)
    private let limit: Int
    private(set) var bytes = 0
    private(set) var flushes = 0
    init(limit: Int) { self.limit = limit }
    func write(_ s: Sample, at time: Int) {
        current.samples.append(s)
        if current.samples.count == limit {
            bytes += current.samples.reduce(0) { $0 + $1.name.utf8.count + 8 }
            flushes += 1
            current = Batch(opened: time)
        }
    }
    var rest: Int { current.samples.count }
}

@main
enum Agent {
    static let queue = BoundedQueue(capacity: 300)
    static let writer = BatchWriter(limit: 256)
    static func main() {
        for tick in 0..<600 {
            for sensor in 0..<8 {
                queue.offer(Sample(name: "host.cpu.core\(sensor).utilisation.percent", value: Double(tick * sensor % 100)))
            }
            for _ in 0..<5 {
                if let s = queue.poll() { writer.write(s, at: tick) }
            }
        }
        print("queued \(queue.count) dropped \(queue.dropped) flushes \(writer.flushes) rest \(writer.rest)")
    }
}
