import Foundation

actor Gate {
    private var permits = 0
    private var closed = false
    private var waiters: [CheckedContinuation<Bool, Never>] = []

    func pass() async -> Bool {
        if closed { return false }
        if permits > 0 {
            permits -= 1
            return true
        }
        return await withCheckedContinuation { waiters.append($0) }
    }

    func allow(_ count: Int) {
        for _ in 0..<count {
            if waiters.isEmpty {
                permits += 1
            } else {
                waiters.removeFirst().resume(returning: true)
            }
        }
    }

    func close() {
        closed = true
        permits = 0
    }

    var queued: Int { waiters.count }
}

final class ThumbnailJob: @unchecked Sendable {
    let file: String
    private let pixels: [UInt8]
    private let counter: Counter

    init(file: String, seed: Int, counter: Counter) {
        self.file = file
        self.pixels = (0..<256).map { UInt8(truncatingIfNeeded: $0 * seed) }
        self.counter = counter
    }

    func start(at gate: Gate) {
        Task {
            guard await gate.pass() else { return }
            counter.add(shrink())
        }
    }

    private func shrink() -> Int {
        stride(from: 0, to: pixels.count, by: 16).reduce(0) { $0 + Int(pixels[$1]) }
    }
}

final class Counter: @unchecked Sendable {
    private let lock = NSLock()
    private var done = 0
    private var light = 0

    func add(_ brightness: Int) {
        lock.withLock {
            done += 1
            light += brightness
        }
    }

    var jobs: Int { lock.withLock { done } }
    var brightness: Int { lock.withLock { light } }
}

final class Batch {
    let name: String
    private let gate = Gate()
    private var jobs: [ThumbnailJob] = []

    init(name: String, size: Int, counter: Counter) async throws {
        self.name = name
        for n in 0..<size {
            let job = ThumbnailJob(file: "\(name)/\(n).jpg", seed: n + 3, counter: counter)
            job.start(at: gate)
            jobs.append(job)
        }
        while await gate.queued < size { try await Task.sleep(for: .milliseconds(1)) }
    }

    func step(_ count: Int, counter: Counter) async throws {
        let goal = counter.jobs + count
        await gate.allow(count)
        while counter.jobs < goal { try await Task.sleep(for: .milliseconds(1)) }
    }

    func abort() async {
        await gate.close()
        jobs.removeAll()
    }
}

let counter = Counter()
var aborted: [String] = []

for number in 1...6 {
    let batch = try await Batch(name: "album\(number)", size: 50, counter: counter)
    for wave in 1...5 {
        try await batch.step(10, counter: counter)
        if number.isMultiple(of: 3) && wave == 1 {
            await batch.abort()
            aborted.append(batch.name)
            break
        }
    }
    try await Task.sleep(for: .milliseconds(20))
}

for number in 7...18 {
    let batch = try await Batch(name: "single\(number)", size: 4, counter: counter)
    try await batch.step(4, counter: counter)
    try await Task.sleep(for: .milliseconds(25))
}
print("\(counter.jobs) thumbnails, brightness \(counter.brightness), aborted \(aborted)")
