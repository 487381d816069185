// Nightly digests: subscribers are sharded over serial queues.
import Foundation

final class DigestJob: @unchecked Sendable {
    let subscriber: Int
    let topics: [String]

    init(subscriber: Int, topics: [String]) {
        self.subscriber = subscriber
        self.topics = topics
    }
}

let bouncing: Set<Int> = [8, 21, 44, 67, 93, 120, 131]

final class Shard: @unchecked Sendable {
    let index: Int
    private let queue: DispatchQueue
    private var pending: [DigestJob] = []
    private var deferred: [Int] = []
    private var paused = false
    private var delivered = 0
    private var bytes = 0

    init(index: Int) {
        self.index = index
        queue = DispatchQueue(label: "digest.shard.\(index)")
    }

    func enqueue(_ job: DigestJob) {
        queue.async { [self] in
            pending.append(job)
            drain()
        }
    }

    private func drain() {
        guard !paused else { return }
        while !pending.isEmpty {
            deliver(pending.removeFirst())
        }
    }

    private func deliver(_ job: DigestJob) {
        let body = job.topics.map { "* \($0)" }.joined(separator: "\n")
        bytes += body.utf8.count
        delivered += 1
        if bouncing.contains(job.subscriber) { deferred.append(job.subscriber) }
    }

    func pause() { queue.sync { paused = true } }

    func resume() {
        queue.sync {
            paused = false
            drain()
        }
    }

    func takeDeferred() -> [Int] {
        queue.sync {
            defer { deferred = [] }
            return deferred
        }
    }

    func totals() -> (delivered: Int, bytes: Int) { queue.sync { (delivered, bytes) } }
}

final class DigestService {
    private let shards = (0..<4).map(Shard.init(index:))
    private(set) var bounced = 0

    func submit(subscriber: Int, topics: [String]) {
        shards[subscriber % shards.count].enqueue(DigestJob(subscriber: subscriber, topics: topics))
    }

    func compactAll() {
        shards.forEach(compact)
    }

    private func compact(_ shard: Shard) {
        shard.pause()
        let deferred = shard.takeDeferred()
        guard !deferred.isEmpty else { return }
        bounced += Set(deferred).count
        shard.resume()
    }

    func summary() -> String {
        shards.map { shard in
            let t = shard.totals()
            return "shard \(shard.index): \(t.delivered) delivered, \(t.bytes) bytes"
        }.joined(separator: "\n")
    }
}

let service = DigestService()
let subjects = ["gardening", "astronomy", "cycling", "local news", "chess", "baking"]
for subscriber in 0..<1200 {
    let topics = (0..<3).map { subjects[(subscriber + $0 * 2) % subjects.count] }
    service.submit(subscriber: subscriber, topics: topics)
    if subscriber == 159 { service.compactAll() }
    if subscriber % 60 == 0 { usleep(6000) }
}
print(service.summary())
print("bounced addresses: \(service.bounced)")
