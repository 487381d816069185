import Foundation

struct Channel: Sendable {
    let id: Int
    let broker: String
}

final class PublishJob: @unchecked Sendable {
    let topic: String
    private let body: [UInt8]
    private(set) var digest: UInt64 = 0

    init(topic: String, body: [UInt8]) {
        self.topic = topic
        self.body = body
    }

    func send(over channel: Channel) {
        digest = 14_695_981_039_346_656_037
        for byte in Array(channel.broker.utf8) + body {
            digest = (digest ^ UInt64(byte)) &* 1_099_511_628_211
        }
    }
}

actor ChannelPool {
    private var idle: [Channel]
    private var waiters: [UnsafeContinuation<Channel?, Never>] = []
    private let size: Int
    private var epoch = 0
    private(set) var pings = 0

    init(size: Int) {
        self.size = size
        self.idle = (0..<size).map { Channel(id: $0, broker: "mq-a") }
    }

    func acquire() async -> (Channel, Int)? {
        if let channel = idle.popLast() {
            return (channel, epoch)
        }
        let channel = await withUnsafeContinuation { waiters.append($0) }
        return channel.map { ($0, epoch) }
    }

    func release(_ channel: Channel, epoch issued: Int) {
        guard issued == epoch else { return }
        if waiters.isEmpty {
            idle.append(channel)
        } else {
            waiters.removeFirst().resume(returning: channel)
        }
    }

    func failover(to broker: String) {
        epoch += 1
        idle = (0..<size).map { Channel(id: epoch * 100 + $0, broker: broker) }
        let stranded = waiters
        waiters.removeAll()
        for waiter in stranded {
            waiter.resume(returning: nil)
        }
    }

    func ping() {
        pings += idle.count
    }

    var queueLength: Int { waiters.count }
}

actor Totals {
    private(set) var sent = 0
    private(set) var retries = 0

    func record(_ job: PublishJob) { sent += job.digest == 0 ? 0 : 1 }
    func retry() { retries += 1 }
}

func publish(_ index: Int, pool: ChannelPool, totals: Totals) {
    Task {
        let job = PublishJob(topic: "orders.\(index % 5)", body: (0..<300).map { UInt8(truncatingIfNeeded: $0 + index) })
        while true {
            guard let (channel, epoch) = await pool.acquire() else {
                await totals.retry()
                continue
            }
            job.send(over: channel)
            try? await Task.sleep(for: .milliseconds(4))
            await totals.record(job)
            await pool.release(channel, epoch: epoch)
            return
        }
    }
}

func run() async throws {
    let pool = ChannelPool(size: 4)
    let totals = Totals()
    let keepAlive = Task {
        while !Task.isCancelled {
            await pool.ping()
            try? await Task.sleep(for: .milliseconds(50))
        }
    }
    for round in 0..<4 {
        var held: [(Channel, Int)] = []
        while held.count < 4, let lease = await pool.acquire() {
            held.append(lease)
        }
        for index in 0..<75 {
            publish(round * 100 + index, pool: pool, totals: totals)
        }
        while await pool.queueLength < 75 {
            try await Task.sleep(for: .milliseconds(5))
        }
        await pool.failover(to: "mq-\(["b", "c", "d", "e"][round])")
        for (channel, epoch) in held {
            await pool.release(channel, epoch: epoch)
        }
        while await totals.sent < (round + 1) * 75 {
            try await Task.sleep(for: .milliseconds(10))
        }
        try await Task.sleep(for: .milliseconds(120))
    }
    keepAlive.cancel()
    await keepAlive.value
    try await Task.sleep(for: .milliseconds(40))
    print("sent \(await totals.sent), retries \(await totals.retries)")
}

try await run()
