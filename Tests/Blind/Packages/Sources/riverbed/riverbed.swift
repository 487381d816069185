import AsyncAlgorithms
import Foundation

struct Sample: Sendable {
    let station: Int
    let depth: Double
    let salinity: Double
}

/// A probe on the river bed that measures and sends until it has used its battery.
final class Probe: @unchecked Sendable {
    let station: Int
    private let battery: Int
    private(set) var sent = 0
    private var calibration: [Double]

    init(station: Int, battery: Int) {
        self.station = station
        self.battery = battery
        calibration = (0..<32).map { Double($0 * station % 17) / 17 }
    }

    func measure(into channel: AsyncChannel<Sample>) async {
        while sent < battery {
            let bias = calibration[sent % calibration.count]
            await channel.send(Sample(station: station, depth: 2 + bias, salinity: 0.01 * Double(sent)))
            sent += 1
        }
    }
}

/// One measuring trip: launches probes and averages the first samples that come in.
struct Survey {
    let number: Int
    let probes: Int
    let wanted: Int

    func run() async -> Double {
        let channel = AsyncChannel<Sample>()
        for index in 0..<probes {
            let probe = Probe(station: number * 100 + index, battery: 50)
            Task { await probe.measure(into: channel) }
        }

        var samples: [Sample] = []
        for await sample in channel {
            samples.append(sample)
            if samples.count == wanted { break }
        }
        let depth = samples.reduce(0) { $0 + $1.depth } / Double(samples.count)
        return depth
    }
}

actor RiverChart {
    private var depths: [Int: Double] = [:]

    func enter(_ depth: Double, for survey: Int) { depths[survey] = depth }

    var summary: String {
        let mean = depths.values.reduce(0, +) / Double(max(1, depths.count))
        return "\(depths.count) surveys, mean depth \(String(format: "%.2f", mean))"
    }
}

@main
struct Riverbed {
    static func main() async throws {
        let chart = RiverChart()
        let surveys = AsyncChannel<Int>()
        let boat = Task {
            for await number in surveys {
                let depth = await Survey(number: number, probes: 5, wanted: 40).run()
                await chart.enter(depth, for: number)
            }
        }
        for number in 1...9 {
            await surveys.send(number)
            try await Task.sleep(for: .milliseconds(20))
        }
        surveys.finish()
        await boat.value

        try await Task.sleep(for: .milliseconds(500))
        print(await chart.summary)
    }
}
