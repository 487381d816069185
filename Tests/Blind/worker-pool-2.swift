import Dispatch
import Foundation

// Thread pool for numeric jobs: a bounded queue, a fixed number of workers,
// futures for the answers.

final class Future<Value>: @unchecked Sendable {
    private let condition = NSCondition()
    private var result: Result<Value, Error>?
    private var callbacks: [(Result<Value, Error>) -> Void] = []

    func complete(_ value: Result<Value, Error>) {
        condition.lock()
        result = value
        let waiting = callbacks
        callbacks.removeAll()
        condition.broadcast()
        condition.unlock()
        waiting.forEach { $0(value) }
    }

    func whenComplete(_ callback: @escaping (Result<Value, Error>) -> Void) {
        condition.lock()
        if let result {
            condition.unlock()
            callback(result)
        } else {
            callbacks.append(callback)
            condition.unlock()
        }
    }

    func get() throws -> Value {
        condition.lock()
        defer { condition.unlock() }
        while result == nil { condition.wait() }
        return try result!.get()
    }
}

final class BoundedQueue<Element>: @unchecked Sendable {
    private let condition = NSCondition()
    private var storage: [Element?]
    private var head = 0, count = 0
    private var closed = false
    private(set) var stalls = 0

    init(capacity: Int) { storage = Array(repeating: nil, count: capacity) }

    func put(_ element: Element) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        while count == storage.count, !closed {
            stalls += 1
            condition.wait()
        }
        guard !closed else { return false }
        storage[(head + count) % storage.count] = element
        count += 1
        condition.broadcast()
        return true
    }

    func take() -> Element? {
        condition.lock()
        defer { condition.unlock() }
        while count == 0, !closed { condition.wait() }
        guard count > 0 else { return nil }
        let element = storage[head]
        storage[head] = nil
        head = (head + 1) % storage.count
        count -= 1
        condition.broadcast()
        return element
    }

    func close() {
        condition.lock()
        closed = true
        condition.broadcast()
        condition.unlock()
    }
}

final class WorkItem: @unchecked Sendable {
    private let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
    func run() { body() }
}

final class WorkerPool: @unchecked Sendable {
    private let queue: BoundedQueue<WorkItem>
    private let finished = DispatchGroup()
    private var threads: [Thread] = []

    init(workers: Int, capacity: Int) {
        queue = BoundedQueue(capacity: capacity)
        for number in 1...workers {
            finished.enter()
            let thread = Thread { [queue, finished] in
                while let item = queue.take() { item.run() }
                finished.leave()
            }
            thread.name = "worker \(number)"
            threads.append(thread)
            thread.start()
        }
    }

    func submit<Value>(_ work: @escaping @Sendable () throws -> Value) -> Future<Value> {
        let future = Future<Value>()
        let accepted = queue.put(WorkItem { future.complete(Result(catching: work)) })
        if !accepted { future.complete(.failure(PoolError.closed)) }
        return future
    }

    func shutdown() {
        queue.close()
        finished.wait()
        threads.removeAll()
    }

    var stalls: Int { queue.stalls }
}

enum PoolError: Error { case closed }
enum JobError: Error { case singular }

struct Matrix: Sendable {
    let size: Int
    var cells: [Double]

    init(size: Int, seed: Int) {
        self.size = size
        var state = UInt32(truncatingIfNeeded: seed) &* 747_796_405 &+ 2_891_336_453
        cells = (0..<size * size).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return Double(state >> 16) / 65_536 - 0.5
        }
        if seed % 50 == 0 { for column in 0..<size { cells[column] = 0 } }
    }

    func determinant() throws -> Double {
        var m = cells
        var result = 1.0
        for pivot in 0..<size {
            var best = pivot
            for row in pivot..<size where abs(m[row * size + pivot]) > abs(m[best * size + pivot]) { best = row }
            guard abs(m[best * size + pivot]) > 1e-12 else { throw JobError.singular }
            if best != pivot {
                for column in 0..<size { m.swapAt(best * size + column, pivot * size + column) }
                result = -result
            }
            result *= m[pivot * size + pivot]
            for row in (pivot + 1)..<max(size, pivot + 1) {
                let factor = m[row * size + pivot] / m[pivot * size + pivot]
                for column in pivot..<size { m[row * size + column] -= factor * m[pivot * size + column] }
            }
        }
        return result
    }
}

final class Tally: @unchecked Sendable {
    private let lock = NSLock()
    private var succeeded = 0, failed = 0
    func record(_ success: Bool) { lock.withLock { if success { succeeded += 1 } else { failed += 1 } } }
    var summary: (succeeded: Int, failed: Int) { lock.withLock { (succeeded, failed) } }
}

let pool = WorkerPool(workers: 3, capacity: 24)
let tally = Tally()
var total = 0.0
for batch in 0..<250 {
    var futures: [Future<Double>] = []
    for job in 1...100 {
        let seed = batch * 100 + job
        let future = pool.submit { try Matrix(size: 8 + seed % 12, seed: seed).determinant() }
        future.whenComplete { result in
            if case .success = result { tally.record(true) } else { tally.record(false) }
        }
        futures.append(future)
    }
    for future in futures {
        if let value = try? future.get() { total += log(abs(value) + 1e-30) }
    }
    usleep(800)
}
let stalled = pool.stalls > 0
pool.shutdown()
let late = pool.submit { 1.0 }
let rejected = (try? late.get()) == nil
let summary = tally.summary
print("succeeded \(summary.succeeded), failed \(summary.failed), log sum \(String(format: "%.3f", total))")
print("queue filled up: \(stalled), late job rejected: \(rejected)")
