import Foundation

// Image conversion service: jobs run on an operation queue, use pixel buffers from a pool and
// the intake waits when too many jobs are in flight.

final class PixelBuffer {
    var values: [Float]
    init(count: Int) { values = Array(repeating: 0, count: count) }
}

final class BufferPool: @unchecked Sendable {
    private let lock = NSLock()
    private var free: [PixelBuffer] = []
    private(set) var created = 0
    private let count: Int

    init(count: Int, prewarm: Int) {
        self.count = count
        free = (0..<prewarm).map { _ in PixelBuffer(count: count) }
        created = prewarm
    }

    func take() -> PixelBuffer {
        lock.withLock {
            if let buffer = free.popLast() { return buffer }
            created += 1
            return PixelBuffer(count: count)
        }
    }

    func give(_ buffer: PixelBuffer) {
        lock.withLock { free.append(buffer) }
    }
}

final class Histogram: @unchecked Sendable {
    private let lock = NSLock()
    private var bins = [Int](repeating: 0, count: 16)

    func merge(_ other: [Int]) {
        lock.withLock { for index in bins.indices { bins[index] += other[index] } }
    }

    var snapshot: [Int] { lock.withLock { bins } }
}

final class ConvertOperation: Operation, @unchecked Sendable {
    private let seed: Int
    private let pool: BufferPool
    private let histogram: Histogram
    private let permits: DispatchSemaphore

    init(seed: Int, pool: BufferPool, histogram: Histogram, permits: DispatchSemaphore) {
        self.seed = seed
        self.pool = pool
        self.histogram = histogram
        self.permits = permits
        super.init()
    }

    override func main() {
        defer { permits.signal() }
        let buffer = pool.take()
        defer { pool.give(buffer) }
        var state = UInt32(truncatingIfNeeded: seed &* 2_654_435_761) | 1
        for index in buffer.values.indices {
            state ^= state << 13
            state ^= state >> 17
            state ^= state << 5
            buffer.values[index] = Float(state >> 8) / Float(1 << 24)
        }
        var bins = [Int](repeating: 0, count: 16)
        for value in buffer.values {
            let gamma = value.squareRoot()
            bins[min(15, Int(gamma * 16))] += 1
        }
        histogram.merge(bins)
    }
}

struct Intake {
    let queue: OperationQueue
    let pool = BufferPool(count: 1_024, prewarm: 12)
    let histogram = Histogram()
    let permits = DispatchSemaphore(value: 12)
    var accepted = 0

    init() {
        queue = OperationQueue()
        queue.maxConcurrentOperationCount = 3
    }

    mutating func accept(_ seed: Int) {
        permits.wait()
        accepted += 1
        queue.addOperation(ConvertOperation(seed: seed, pool: pool, histogram: histogram, permits: permits))
    }
}

var intake = Intake()
for batch in 0..<140 {
    for index in 0..<8 { intake.accept(batch * 8 + index + 1) }
    if batch % 70 == 69 { print("batch \(batch + 1): accepted \(intake.accepted), buffers \(intake.pool.created)") }
    Thread.sleep(forTimeInterval: 0.005)
}
intake.queue.waitUntilAllOperationsAreFinished()
let bins = intake.histogram.snapshot
print("converted \(intake.accepted), pixels \(bins.reduce(0, +)), darkest \(bins[0]), brightest \(bins[15])")
