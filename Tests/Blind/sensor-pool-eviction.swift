import Synchronization

struct Reading {
    let tick: Int
    let value: Double
}

final class Sensor: Sendable {
    let serial: String
    private let readings = Mutex<[Reading]>([])
    private let running = Mutex<Task<Void, Never>?>(nil)

    init(serial: String) { self.serial = serial }

    func start() {
        let task: Task<Void, Never>
        task = Task { [weak self] in
            guard let self else { return }
            var tick = 0
            while !Task.isCancelled {
                sample(tick)
                tick += 1
                try? await Task.sleep(for: .milliseconds(10))
            }
        }
        running.withLock { $0 = task }
    }

    private func sample(_ tick: Int) {
        let base = Double(serial.utf8.reduce(0) { $0 &+ Int($1) } % 40)
        readings.withLock {
            $0.append(Reading(tick: tick, value: base + Double(tick % 5) / 10))
            if $0.count > 50 { $0.removeFirst(25) }
        }
    }

    func stop() {
        running.withLock { task in
            task?.cancel()
            task = nil
        }
    }

    func first() async -> Double {
        while true {
            if let reading = readings.withLock({ $0.first }) { return reading.value }
            try? await Task.sleep(for: .milliseconds(2))
        }
    }

    var latest: Int { readings.withLock { Int($0.last?.value ?? 0) } }
}

final class SensorPool {
    private let capacity: Int
    private var sensors: [String: Sensor] = [:]
    private var recent: [String] = []
    private(set) var evictions = 0

    init(capacity: Int) { self.capacity = capacity }

    func sensor(_ serial: String) async -> Sensor {
        if let known = sensors[serial] {
            recent.removeAll { $0 == serial }
            recent.append(serial)
            return known
        }
        if sensors.count == capacity {
            let oldest = recent.removeFirst()
            sensors.removeValue(forKey: oldest)
            evictions += 1
        }
        let sensor = Sensor(serial: serial)
        sensor.start()
        _ = await sensor.first()
        sensors[serial] = sensor
        recent.append(serial)
        return sensor
    }

    func decommission(_ serial: String) {
        sensors.removeValue(forKey: serial)?.stop()
        recent.removeAll { $0 == serial }
    }

    var serials: [String] { sensors.keys.sorted() }
    func sum() -> Int { sensors.values.reduce(0) { $0 + $1.latest } }
}

@main
enum Plant {
    static let pool = SensorPool(capacity: 6)

    static func main() async throws {
        for hall in 1...3 {
            for n in 1...4 { _ = await pool.sensor("H\(hall)-\(n)") }
            for n in 1...4 { pool.decommission("H\(hall)-\(n)") }
        }
        for n in 1...14 {
            let sensor = await pool.sensor("LINE-\(n)")
            if n > 3 { _ = await pool.sensor("LINE-\(n - 1)") }
            _ = sensor.latest
        }
        var total = 0
        for _ in 1...20 {
            total = pool.sum()
            try await Task.sleep(for: .milliseconds(15))
        }
        print("pool \(pool.serials) after \(pool.evictions) evictions, level \(total)")
    }
}
