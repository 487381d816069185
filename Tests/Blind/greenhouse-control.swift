// Climate control of a greenhouse: a controller per zone measures, regulates the actuators and accounts energy.
import Foundation

protocol Actuator: AnyObject {
    var title: String { get }
    var energy: Double { get }
    func drive(toward error: Double)
}

final class Heater: Actuator {
    let title = "heater"
    private(set) var energy = 0.0
    private(set) var output = 0.0

    func drive(toward error: Double) {
        output = min(1, max(0, output * 0.7 + error * 0.2))
        energy += output * 2.0
    }
}

final class Vent: Actuator {
    let title = "vent"
    private(set) var energy = 0.0
    private(set) var opening = 0.0

    func drive(toward error: Double) {
        opening = min(1, max(0, opening * 0.8 - error * 0.15))
        energy += opening * 0.1
    }
}

final class ClimateSample {
    let cycle: Int
    let temperature: Double
    let humidity: Double

    init(cycle: Int, temperature: Double, humidity: Double) {
        self.cycle = cycle
        self.temperature = temperature
        self.humidity = humidity
    }
}

struct Probe {
    let phase: Int

    func outside(_ cycle: Int) -> Double {
        let position = (cycle + phase) % 288
        let ramp = position < 144 ? Double(position) : Double(288 - position)
        return 4.0 + ramp / 12.0
    }

    func humidity(_ cycle: Int) -> Double {
        45.0 + Double((cycle * 37 + phase * 11) % 40)
    }
}

final class ZoneController {
    let name: String
    let setpoint: Double
    private let probe: Probe
    private let heater = Heater()
    private let vent = Vent()
    private var temperature: Double
    private var history: [ClimateSample] = []
    private(set) var latest: ClimateSample?
    private(set) var alarms = 0

    init(name: String, setpoint: Double, phase: Int) {
        self.name = name
        self.setpoint = setpoint
        probe = Probe(phase: phase)
        temperature = setpoint - 4
    }

    var actuators: [any Actuator] { [heater, vent] }

    func cycle(_ number: Int) {
        let outside = probe.outside(number)
        temperature += (outside - temperature) * 0.05
        temperature += heater.output * 1.5 - vent.opening * 0.8
        let sample = ClimateSample(cycle: number, temperature: temperature, humidity: probe.humidity(number))
        history.append(sample)
        latest = sample
        let error = setpoint - sample.temperature
        for actuator in actuators {
            actuator.drive(toward: error)
        }
        if abs(error) > 3 || sample.humidity > 83 {
            alarms += 1
        }
    }
}

final class Greenhouse {
    let zones: [ZoneController]

    init() {
        zones = [
            ZoneController(name: "tomatoes", setpoint: 22, phase: 0),
            ZoneController(name: "orchids", setpoint: 25, phase: 30),
            ZoneController(name: "lettuce", setpoint: 15, phase: 71),
        ]
    }

    func run(cycles: Int) {
        for number in 0..<cycles {
            for zone in zones {
                zone.cycle(number)
            }
        }
    }
}

func rounded(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(abs(tenths % 10))"
}

let greenhouse = Greenhouse()
for day in 1...4 {
    greenhouse.run(cycles: 250)
    let line = greenhouse.zones.map { zone in
        "\(zone.name) \(rounded(zone.latest?.temperature ?? 0))"
    }
    print("day \(day): \(line.joined(separator: ", "))")
}
for zone in greenhouse.zones {
    let usage = zone.actuators.map { "\($0.title) \(rounded($0.energy)) kWh" }
    print("\(zone.name): \(usage.joined(separator: ", ")), alarms \(zone.alarms)")
}
