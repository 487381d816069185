import Foundation

enum Quantity: String, CaseIterable { case temperature, humidity, power }

final class Reading {
    let device: String
    let sequence: Int
    let quantity: Quantity
    let value: Double
    init(device: String, sequence: Int, quantity: Quantity, value: Double) {
        self.device = device
        self.sequence = sequence
        self.quantity = quantity
        self.value = value
    }
    var key: String { "\(device)#\(sequence)" }
}

final class Device {
    let name: String
    private(set) var last: Reading?
    private(set) var received = 0
    private var seconds = 0
    init(name: String) { self.name = name }

    func update(_ r: Reading) {
        last = r
        received += 1
        seconds = 0
    }
    func age() -> Int {
        seconds += 1
        return seconds
    }
}

final class Window {
    private var readings: [Reading] = []
    private let size: Int
    init(size: Int) { self.size = size }

    func add(_ r: Reading) {
        readings.append(r)
        if readings.count > size { readings.removeFirst() }
    }
    var mean: Double {
        readings.isEmpty ? 0 : readings.reduce(0) { $0 + $1.value } / Double(readings.count)
    }
}

final class Deduplicator {
    private var accepted: [String: Reading] = [:]
    private(set) var duplicates = 0

    func accept(_ r: Reading) -> Bool {
        if let old = accepted[r.key], old.quantity == r.quantity {
            duplicates += 1
            return false
        }
        accepted[r.key] = r
        return true
    }
}

final class AlarmBoard {
    private var active: [String: Reading] = [:]
    private(set) var raised = 0

    func check(_ r: Reading, limit: Double) {
        if r.value > limit {
            if active[r.device] == nil { raised += 1 }
            active[r.device] = r
        } else {
            active[r.device] = nil
        }
    }
    func forget(_ device: String) { active[device] = nil }
    var count: Int { active.count }
}

final class Hub {
    private let queue = DispatchQueue(label: "hub")
    private var devices: [String: Device] = [:]
    private var windows: [Quantity: Window] = [:]
    private let dedup = Deduplicator()
    private let alarms = AlarmBoard()
    private var gone = 0

    init() {
        for q in Quantity.allCases { windows[q] = Window(size: 64) }
    }

    func publish(device: String, sequence: Int, quantity: Quantity, value: Double) {
        queue.async { [self] in
            let r = Reading(device: device, sequence: sequence, quantity: quantity, value: value)
            guard dedup.accept(r) else { return }
            let d = devices[device] ?? register(device)
            d.update(r)
            windows[quantity]?.add(r)
            if quantity == .temperature { alarms.check(r, limit: 78) }
        }
    }

    private func register(_ name: String) -> Device {
        let d = Device(name: name)
        devices[name] = d
        return d
    }

    func tick() {
        queue.async { [self] in
            for d in Array(devices.values) where d.age() > 30 {
                devices[d.name] = nil
                alarms.forget(d.name)
                gone += 1
            }
        }
    }

    func status() -> String {
        queue.sync {
            let means = Quantity.allCases.map { "\($0.rawValue) \(String(format: "%.1f", windows[$0]!.mean))" }
            return "devices \(devices.count) gone \(gone) duplicates \(dedup.duplicates) alarms \(alarms.count)/\(alarms.raised) " + means.joined(separator: " ")
        }
    }
}

final class Sensor {
    let name: String
    private var sequence = 0
    private let lifetime: Int
    private var phase: Double

    init(name: String, lifetime: Int) {
        self.name = name
        self.lifetime = lifetime
        phase = Double(lifetime)
    }

    var done: Bool { sequence >= lifetime }

    func emit(to hub: Hub) {
        sequence += 1
        phase += 0.13
        let q = Quantity.allCases[sequence % 3]
        let v = 50 + 30 * sin(phase)
        hub.publish(device: name, sequence: sequence, quantity: q, value: v)
        if sequence % 8 == 0 {
            hub.publish(device: name, sequence: sequence, quantity: q, value: v)
        }
    }
}

func simulate(_ hub: Hub) {
    var sensors: [Sensor] = []
    var serial = 0
    for step in 0..<420 {
        while sensors.count < 12 {
            serial += 1
            sensors.append(Sensor(name: "dev-\(serial)", lifetime: 30 + serial * 7 % 90))
        }
        for s in sensors { s.emit(to: hub) }
        sensors.removeAll { $0.done }
        hub.tick()
        if step % 140 == 139 { print(hub.status()) }
        usleep(4_500)
    }
}

let hub = Hub()
simulate(hub)
print(hub.status())
