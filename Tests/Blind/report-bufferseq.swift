import Foundation

final class SensorFeed: AsyncSequence, @unchecked Sendable {
    typealias Element = Int
    let channel: Int
    private let calibration = [Double](repeating: 0.5, count: 64)

    init(channel: Int) { self.channel = channel }

    struct AsyncIterator: AsyncIteratorProtocol {
        let feed: SensorFeed
        var tick = 0

        mutating func next() async -> Int? {
            await Task.yield()
            tick += 1
            return feed.channel * 1_000 + tick
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(feed: self) }
}

actor BufferStorage {
    private let limit: Int
    private var elements: [Int] = []
    private var producer: CheckedContinuation<Void, Never>?
    private var consumer: CheckedContinuation<Int, Never>?

    init(limit: Int) { self.limit = limit }

    nonisolated func start(_ base: SensorFeed) {
        Task {
            for await element in base { await self.push(element) }
        }
    }

    private func push(_ element: Int) async {
        if let waiting = consumer {
            consumer = nil
            waiting.resume(returning: element)
            return
        }
        elements.append(element)
        if elements.count >= limit {
            await withCheckedContinuation { producer = $0 }
        }
    }

    func pull() async -> Int {
        if !elements.isEmpty {
            let element = elements.removeFirst()
            producer?.resume()
            producer = nil
            return element
        }
        return await withCheckedContinuation { consumer = $0 }
    }
}

struct BufferedReadings: AsyncSequence {
    let base: SensorFeed
    let limit: Int

    struct AsyncIterator: AsyncIteratorProtocol {
        let storage: BufferStorage
        mutating func next() async -> Int? { await storage.pull() }
    }

    func makeAsyncIterator() -> AsyncIterator {
        let storage = BufferStorage(limit: limit)
        storage.start(base)
        return AsyncIterator(storage: storage)
    }
}

func firstReading(above threshold: Int, on channel: Int) async -> Int {
    let feed = SensorFeed(channel: channel)
    for await reading in BufferedReadings(base: feed, limit: 2) where reading % 1_000 > threshold {
        return reading
    }
    return 0
}

func main() async {
    var total = 0
    for channel in 0..<80 {
        total += await firstReading(above: channel % 5, on: channel)
        try? await Task.sleep(nanoseconds: 5_000_000)
    }
    print("80 channels, sum of first readings \(total)")
}

await main()
