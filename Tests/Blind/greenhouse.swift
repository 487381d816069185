import Foundation

// Greenhouse controller: a hub publishes climate readings to subscribers.
// Every cultivation phase has a monitor which watches the readings and gives
// its findings when the phase is over.

struct Reading: Sendable {
    let tick: Int
    let temperature: Double
    let humidity: Double
}

struct Finding: Sendable {
    let phase: Int
    let samples: Int
    let average: Double
    let alarms: Int
}

actor ClimateHub {
    private var subscribers: [Int: AsyncStream<Reading>.Continuation] = [:]
    private var nextID = 0
    private(set) var published = 0

    func subscribe() -> AsyncStream<Reading> {
        nextID += 1
        let id = nextID
        let (stream, continuation) = AsyncStream.makeStream(of: Reading.self, bufferingPolicy: .bufferingNewest(8))
        continuation.onTermination = { [weak self] _ in
            Task { await self?.remove(id) }
        }
        subscribers[id] = continuation
        return stream
    }

    private func remove(_ id: Int) { subscribers[id] = nil }

    func publish(_ reading: Reading) {
        published += 1
        for continuation in subscribers.values { continuation.yield(reading) }
    }
}

/// Exponential smoothing with a band around it.
struct Band: Sendable {
    private var level: Double?
    private let width: Double
    private(set) var outside = 0

    init(width: Double) { self.width = width }

    mutating func add(_ value: Double) {
        guard let current = level else {
            level = value
            return
        }
        if abs(value - current) > width { outside += 1 }
        level = current * 0.9 + value * 0.1
    }
}

final class PhaseMonitor: @unchecked Sendable {
    let phase: Int
    private let lock = NSLock()
    private var active = true
    private var samples = 0
    private var sum = 0.0
    private var temperatureBand = Band(width: 2.5)
    private var humidityBand = Band(width: 9)

    init(phase: Int) { self.phase = phase }

    func start(on stream: AsyncStream<Reading>) {
        Task {
            for await reading in stream { self.handle(reading) }
        }
    }

    private func handle(_ reading: Reading) {
        lock.withLock {
            guard active else { return }
            samples += 1
            sum += reading.temperature
            temperatureBand.add(reading.temperature)
            humidityBand.add(reading.humidity)
        }
    }

    func finish() -> Finding {
        lock.withLock {
            active = false
            return Finding(phase: phase, samples: samples, average: samples == 0 ? 0 : sum / Double(samples), alarms: temperatureBand.outside + humidityBand.outside)
        }
    }
}

struct Climate {
    private var seed: UInt64 = 1_013
    private var tick = 0
    private var cells: [Double]

    init(width: Int) { cells = Array(repeating: 18, count: width * width) }

    private mutating func noise() -> Double {
        seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Double(seed >> 40) / Double(1 << 24) - 0.5
    }

    /// One diffusion step over the grid of the house.
    mutating func advance() -> Reading {
        tick += 1
        let width = Int(Double(cells.count).squareRoot())
        let sun = 6 + 5 * sin(Double(tick) / 40)
        var next = cells
        for y in 0..<width {
            for x in 0..<width {
                let here = y * width + x
                let left = cells[y * width + (x + width - 1) % width], right = cells[y * width + (x + 1) % width]
                let up = cells[(y + width - 1) % width * width + x], down = cells[(y + 1) % width * width + x]
                next[here] += 0.2 * (left + right + up + down - 4 * cells[here]) + 0.01 * (sun + 14 - cells[here]) + (here % 97 == tick % 97 ? noise() * 4 : 0)
            }
        }
        cells = next
        let mean = cells.reduce(0, +) / Double(cells.count)
        return Reading(tick: tick, temperature: mean + noise() * 6, humidity: 60 - mean + noise() * 20)
    }
}

actor Findings {
    private var items: [Finding] = []
    func add(_ finding: Finding) { items.append(finding) }
    func all() -> [Finding] { items }
}

@main
struct Greenhouse {
    static func main() async throws {
        let hub = ClimateHub()
        let findings = Findings()
        var climate = Climate(width: 34)

        for phase in 1...75 {
            let monitor = PhaseMonitor(phase: phase)
            monitor.start(on: await hub.subscribe())
            for _ in 0..<12 {
                await hub.publish(climate.advance())
                await Task.yield()
            }
            try await Task.sleep(for: .milliseconds(3))
            await findings.add(monitor.finish())
        }

        let all = await findings.all()
        let sampled = all.filter { $0.samples > 0 }
        let mean = sampled.reduce(0) { $0 + $1.average } / Double(max(sampled.count, 1))
        print("phases \(all.count), readings \(await hub.published), plausible mean: \(mean > 10 && mean < 35)")
        print("phases with samples: \(sampled.count > 60), alarms seen: \(all.contains { $0.alarms > 0 })")
    }
}
