import Foundation

final class SafetyPanel {
    private var channels: [Int: Thermocouple] = [:]
    private var freeNumbers = Array((1...8).reversed())
    private(set) var trips = 0

    func connect(_ thermocouple: Thermocouple) -> Int? {
        guard let number = freeNumbers.popLast() else { return nil }
        channels[number] = thermocouple
        return number
    }

    func disconnect(_ number: Int) {
        channels[number] = nil
        freeNumbers.append(number)
    }

    func scan(limit: Double) {
        for thermocouple in channels.values where thermocouple.celsius > limit {
            trips += 1
            thermocouple.trip()
        }
    }

    var connected: Int { channels.count }
}

final class Thermocouple {
    private(set) var celsius = 20.0
    private(set) var tripped = false

    func follow(target: Double, rate: Double) {
        celsius += max(-rate, min(rate, target - celsius))
    }

    func trip() { tripped = true }
}

enum FiringError: Error {
    case noChannel
    case overheated(step: Int)
}

final class Firing {
    private let schedule: [Double]
    private let panel: SafetyPanel
    private let thermocouple = Thermocouple()
    private var channel: Int?

    init(schedule: [Double], panel: SafetyPanel) throws {
        self.schedule = schedule
        self.panel = panel
        channel = panel.connect(thermocouple)
        if channel == nil { throw FiringError.noChannel }
    }

    func run() throws -> Double {
        var peak = 0.0
        for (step, target) in schedule.enumerated() {
            for _ in 0..<6 {
                thermocouple.follow(target: target, rate: 85)
                panel.scan(limit: 1_285)
                if thermocouple.tripped { throw FiringError.overheated(step: step) }
                peak = max(peak, thermocouple.celsius)
            }
        }
        return peak
    }

    func close() {
        if let number = channel {
            panel.disconnect(number)
            channel = nil
        }
    }
}

let panel = SafetyPanel()
let bisque: [Double] = [200, 600, 980, 1_000, 400]
let stoneware: [Double] = [220, 650, 1_050, 1_260, 500]
let crystalline: [Double] = [300, 750, 1_150, 1_300, 700]
var peaks: [String: Double] = [:]
var completed = 0
var aborted: [Int: Int] = [:]

for batch in 0..<700 {
    let (name, schedule) = [("bisque", bisque), ("stoneware", stoneware), ("crystalline", crystalline)][batch % 7 == 6 ? 2 : batch % 2]
    let adjusted = schedule.map { $0 + Double(batch % 5) * 2 }
    do {
        let firing = try Firing(schedule: adjusted, panel: panel)
        defer { firing.close() }
        let peak = try firing.run()
        peaks[name] = max(peaks[name] ?? 0, peak)
        completed += 1
    } catch FiringError.overheated(let step) {
        aborted[step, default: 0] += 1
    } catch {
        print("batch \(batch): no channel")
    }
}

print("completed: \(completed), trips: \(panel.trips), connected: \(panel.connected)")
for name in peaks.keys.sorted() {
    print(String(format: "%@ peak %.0f C", name, peaks[name]!))
}
for step in aborted.keys.sorted() {
    print("aborted at step \(step): \(aborted[step]!)")
}
