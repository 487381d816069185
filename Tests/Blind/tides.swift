import Foundation

struct Reading: Sendable {
    let station: Int
    let level: Double
}

actor TideTable {
    static let shared = TideTable()
    private var highest: [Int: Double] = [:]
    private(set) var readings = 0

    func record(_ reading: Reading) {
        readings += 1
        highest[reading.station % 6] = max(highest[reading.station % 6] ?? 0, reading.level)
    }

    func peak() -> Double { highest.values.max() ?? 0 }
}

/// A floating gauge that reports the water level while it is deployed.
final class GaugeStation: @unchecked Sendable {
    let number: Int
    private var phase: Double
    private var calibration: [Double]
    private var sampling: Task<Void, Never>?

    init(number: Int) {
        self.number = number
        self.phase = Double(number) * 0.37
        self.calibration = (0..<32).map { 1.0 + Double($0 + number) / 1000 }
    }

    deinit {
        sampling?.cancel()
    }

    func deploy() {
        sampling = Task {
            while !Task.isCancelled {
                let reading = self.sample()
                await TideTable.shared.record(reading)
                try? await Task.sleep(for: .milliseconds(30))
            }
        }
    }

    private func sample() -> Reading {
        phase += 0.21
        let factor = calibration[Int(phase * 10) % calibration.count]
        return Reading(station: number, level: (sin(phase) + 1) * 2.4 * factor)
    }
}

/// Ships lay out a few gauges, stay a while, and move to the next bay.
final class SurveyShip {
    private var deployed: [GaugeStation] = []
    private var nextNumber = 1
    private(set) var bays = 0

    func layOut(_ count: Int) {
        for _ in 0..<count {
            let station = GaugeStation(number: nextNumber)
            nextNumber += 1
            station.deploy()
            deployed.append(station)
        }
    }

    func moveOn() {
        deployed.removeAll()
        bays += 1
    }
}

let ship = SurveyShip()
for _ in 0..<15 {
    ship.layOut(4)
    try await Task.sleep(for: .milliseconds(45))
    ship.moveOn()
}
let peak = await TideTable.shared.peak()
let readings = await TideTable.shared.readings
print("surveyed \(ship.bays) bays, peak \(String(format: "%.2f", peak)) m, many readings: \(readings > 60)")
exit(0)
