import Foundation
import Synchronization

final class Telemetry: Sendable {
    private struct Counters {
        var beats: [Int: Int] = [:]
        var closed = 0
    }

    private let counters = Mutex(Counters())

    func beat(_ serial: Int) {
        counters.withLock { $0.beats[serial, default: 0] += 1 }
    }

    func loopEnded() {
        counters.withLock { $0.closed += 1 }
    }

    var devicesSeen: Int { counters.withLock { $0.beats.count } }
    var loopsEnded: Int { counters.withLock { $0.closed } }
}

final class Device: Sendable {
    let serial: Int
    let firmware: String
    private let battery: Mutex<Int>

    init(serial: Int, firmware: String) {
        self.serial = serial
        self.firmware = firmware
        battery = Mutex(60 + serial % 40)
    }

    func monitor(into telemetry: Telemetry) {
        let every = Duration.milliseconds(10 + serial % 5)
        Task.detached { [weak self] in
            while true {
                do {
                    guard let device = self else { break }
                    device.ping(telemetry)
                }
                try? await Task.sleep(for: every)
            }
            telemetry.loopEnded()
        }
    }

    private func ping(_ telemetry: Telemetry) {
        battery.withLock { $0 = max(0, $0 - 1) }
        telemetry.beat(serial)
    }

    var level: Int { battery.withLock { $0 } }
}

struct Gateway {
    let telemetry = Telemetry()
    private var devices: [Int: Device] = [:]

    mutating func connect(_ serial: Int) {
        let device = Device(serial: serial, firmware: "2.\(serial % 3)")
        devices[serial] = device
        device.monitor(into: telemetry)
    }

    mutating func disconnect(_ serial: Int) {
        devices.removeValue(forKey: serial)
    }

    func census() -> [(firmware: String, count: Int)] {
        Dictionary(grouping: devices.values, by: \.firmware)
            .map { ($0.key, $0.value.count) }
            .sorted { $0.0 < $1.0 }
    }

    var weak: Int { devices.values.filter { $0.level < 20 }.count }
    var count: Int { devices.count }
}

var gateway = Gateway()
for serial in 1...80 {
    gateway.connect(serial)
}
while gateway.telemetry.devicesSeen < 80 {
    try? await Task.sleep(for: .milliseconds(4))
}
print("connected \(gateway.count)")

for serial in stride(from: 2, through: 80, by: 8) {
    gateway.disconnect(serial)
    gateway.disconnect(serial + 1)
    gateway.disconnect(serial + 5)
}
while gateway.telemetry.loopsEnded < 80 - gateway.count {
    try? await Task.sleep(for: .milliseconds(4))
}
try? await Task.sleep(for: .milliseconds(30))
print("connected \(gateway.count), monitors ended \(gateway.telemetry.loopsEnded), weak \(gateway.weak)")
for (firmware, count) in gateway.census() {
    print("firmware \(firmware): \(count)")
}
