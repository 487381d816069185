import Foundation

// Field gateway: decodes sensor frames from the bus, smooths the values and raises alarms.

enum SensorKind: Int, CaseIterable {
    case temperature, pressure, vibration

    var limit: Double {
        switch self {
        case .temperature: return 85
        case .pressure: return 6.2
        case .vibration: return 3.4
        }
    }
    var scale: Double {
        switch self {
        case .temperature: return 0.05
        case .pressure: return 0.004
        case .vibration: return 0.002
        }
    }
}

struct Frame {
    let device: UInt16
    let counter: UInt32
    let payload: [UInt8]

    var isIntact: Bool {
        payload.dropLast().reduce(UInt8(0)) { $0 ^ $1 } == payload.last
    }
}

final class Reading {
    let counter: UInt32
    let value: Double
    let quality: Int
    let raw: [UInt8]

    init(counter: UInt32, value: Double, quality: Int, raw: [UInt8]) {
        self.counter = counter
        self.value = value
        self.quality = quality
        self.raw = raw
    }
}

final class DeviceChannel {
    let address: UInt16
    let kind: SensorKind
    private var history: [Reading] = []
    private(set) var alarms = 0
    private var inAlarm = false

    init(address: UInt16, kind: SensorKind) {
        self.address = address
        self.kind = kind
    }

    func accept(_ frame: Frame) {
        let word = Int(frame.payload[0]) << 8 | Int(frame.payload[1])
        let value = Double(word) * kind.scale
        history.append(Reading(counter: frame.counter, value: value,
                               quality: Int(frame.payload[2]), raw: frame.payload))
        let level = smoothed
        if level > kind.limit, !inAlarm {
            inAlarm = true
            alarms += 1
        } else if level < kind.limit * 0.9 {
            inAlarm = false
        }
    }

    /// Quality weighted mean of the last eight readings.
    var smoothed: Double {
        var sum = 0.0, weight = 0.0
        for reading in history.suffix(8) {
            let w = Double(reading.quality) / 255
            sum += reading.value * w
            weight += w
        }
        return weight > 0 ? sum / weight : 0
    }
}

final class Gateway {
    private var channels: [UInt16: DeviceChannel] = [:]
    private(set) var accepted = 0
    private(set) var rejected = 0

    func attach(_ address: UInt16, kind: SensorKind) {
        channels[address] = DeviceChannel(address: address, kind: kind)
    }

    func receive(_ frame: Frame) {
        guard frame.isIntact, let channel = channels[frame.device] else {
            rejected += 1
            return
        }
        accepted += 1
        channel.accept(frame)
    }

    func status() -> String {
        let alarms = channels.values.reduce(0) { $0 + $1.alarms }
        let hottest = channels.values.filter { $0.kind == .temperature }.map(\.smoothed).max() ?? 0
        return "accepted \(accepted), rejected \(rejected), alarms \(alarms), hottest \(String(format: "%.1f", hottest))"
    }
}

func makeFrame(device: UInt16, counter: UInt32, damaged: Bool) -> Frame {
    let phase = Double(counter) / 9 + Double(device)
    let word = Int(1100 + 600 * sin(phase) + 150 * cos(phase * 3.1))
    var bytes: [UInt8] = [UInt8(word >> 8), UInt8(word & 0xff), UInt8(180 + Int(counter) % 70)]
    bytes += (0..<20).map { UInt8(truncatingIfNeeded: Int(device) &* 31 &+ $0 &* Int(counter)) }
    let check = bytes.reduce(UInt8(0)) { $0 ^ $1 }
    bytes.append(damaged ? check ^ 0x5a : check)
    return Frame(device: device, counter: counter, payload: bytes)
}

let gateway = Gateway()
for address in UInt16(1)...48 {
    gateway.attach(address, kind: SensorKind.allCases[Int(address) % 3])
}

for cycle in UInt32(0)..<75 {
    for address in UInt16(1)...48 {
        gateway.receive(makeFrame(device: address, counter: cycle, damaged: false))
    }
    gateway.receive(makeFrame(device: UInt16(cycle % 48) + 1, counter: cycle, damaged: true))
    Thread.sleep(forTimeInterval: 0.011)
}
print(gateway.status())
