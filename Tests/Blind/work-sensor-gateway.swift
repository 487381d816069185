import Foundation
import Dispatch

final class Reading {
    let sensor: Int
    let value: Double
    let at: Int
    init(sensor: Int, value: Double, at: Int) {
        self.sensor = sensor
        self.value = value
        self.at = at
    }
}

protocol ReadingSink: AnyObject {
    func accept(_ reading: Reading)
}

final class Calibration {
    let offset: Double
    let gain: Double
    init(offset: Double, gain: Double) {
        self.offset = offset
        self.gain = gain
    }
    func correct(_ raw: Double) -> Double { raw * gain + offset }
}

final class Sensor {
    let id: Int
    private let calibration: Calibration
    private let queue: DispatchQueue
    private weak var sink: ReadingSink?
    private var timer: DispatchSourceTimer?
    private var slowTimer: DispatchSourceTimer?
    private var samples = 0
    private var phase: Double

    init(id: Int, queue: DispatchQueue, sink: ReadingSink) {
        self.id = id
        self.queue = queue
        self.sink = sink
        phase = Double(id)
        calibration = Calibration(offset: Double(id % 5) * 0.1, gain: 1 + Double(id % 3) * 0.01)
    }

    func start() {
        timer = makeTimer(milliseconds: 15)
    }

    func slowDown() {
        timer?.cancel()
        timer = nil
        slowTimer = makeTimer(milliseconds: 60)
    }

    func stop() {
        timer?.cancel()
        timer = nil
    }

    private func makeTimer(milliseconds: Int) -> DispatchSourceTimer {
        let source = DispatchSource.makeTimerSource(queue: queue)
        source.schedule(deadline: .now() + .milliseconds(milliseconds), repeating: .milliseconds(milliseconds))
        source.setEventHandler { self.sample() }
        source.resume()
        return source
    }

    private func sample() {
        samples += 1
        phase += 0.21
        sink?.accept(Reading(sensor: id, value: calibration.correct(sin(phase) * 10 + 20), at: samples))
    }
}

final class Aggregator: ReadingSink {
    private var sums: [Int: (count: Int, total: Double)] = [:]
    private var latest: [Int: Reading] = [:]
    private(set) var rejected = 0
    private var registered = Set<Int>()

    func register(_ id: Int) { registered.insert(id) }

    func forget(_ id: Int) {
        registered.remove(id)
        latest[id] = nil
    }

    func accept(_ reading: Reading) {
        guard registered.contains(reading.sensor) else {
            rejected += 1
            return
        }
        let old = sums[reading.sensor % 10] ?? (0, 0)
        sums[reading.sensor % 10] = (old.count + 1, old.total + reading.value)
        latest[reading.sensor] = reading
    }

    func averages() -> [String] {
        sums.sorted { $0.key < $1.key }.map { key, s in
            String(format: "bank %d: %.2f over %d", key, s.total / Double(s.count), s.count)
        }
    }

    var liveCount: Int { latest.count }
}

final class Gateway {
    private let queue = DispatchQueue(label: "gateway")
    private let aggregator = Aggregator()
    private var sensors: [Int: Sensor] = [:]
    private var nextId = 1
    private(set) var removed = 0

    func attach() {
        queue.sync {
            let sensor = Sensor(id: nextId, queue: queue, sink: aggregator)
            nextId += 1
            sensors[sensor.id] = sensor
            aggregator.register(sensor.id)
            sensor.start()
        }
    }

    func economise() {
        queue.sync {
            guard let id = sensors.keys.max() else { return }
            sensors[id]?.slowDown()
        }
    }

    func detachOldest() {
        queue.sync {
            guard let id = sensors.keys.min(), let sensor = sensors.removeValue(forKey: id) else { return }
            sensor.stop()
            aggregator.forget(id)
            removed += 1
        }
    }

    var attached: Int { queue.sync { sensors.count } }

    func report() -> [String] {
        queue.sync { aggregator.averages() + ["\(aggregator.liveCount) live, \(removed) removed"] }
    }

    func shutdown() {
        queue.sync {
            sensors.values.forEach { $0.stop() }
            sensors.removeAll()
        }
    }
}

func operate(rounds: Int) {
    let gateway = Gateway()
    for round in 0..<rounds {
        gateway.attach()
        if round % 7 == 3 { gateway.economise() }
        if gateway.attached > 12 { gateway.detachOldest() }
        usleep(20_000)
    }
    gateway.report().forEach { print($0) }
    gateway.shutdown()
}

operate(rounds: 110)
