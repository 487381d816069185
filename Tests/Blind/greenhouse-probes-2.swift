import Foundation

protocol Pollable: AnyObject {
    var tag: String { get }
    func sample(at minute: Int) -> Double
}

final class PollingHub {
    static let shared = PollingHub()
    private var pollables: [Pollable] = []
    private var lastTag = ""

    func register(_ pollable: Pollable) {
        pollables.append(pollable)
        lastTag = pollable.tag
    }

    func unregister(_ pollable: Pollable) {
        pollables.removeAll { $0 === pollable }
    }

    var mostRecentTag: String { lastTag }
}

final class Probe: Pollable {
    let tag: String
    private let bed: Int
    private let depthCm: Int
    private var history: [Double] = []

    init(bed: Int, depthCm: Int) {
        self.bed = bed
        self.depthCm = depthCm
        self.tag = "bed\(bed)-\(depthCm)cm"
        PollingHub.shared.register(self)
    }

    func sample(at minute: Int) -> Double {
        let swing = Double((minute * 7 + bed * 13) % 90) / 10
        let damping = 1.0 / (1.0 + Double(depthCm) / 20)
        let value = 12 + swing * damping
        history.append(value)
        return value
    }

    var mean: Double {
        history.isEmpty ? 0 : history.reduce(0, +) / Double(history.count)
    }
}

struct BedReport {
    var soundings = 0
    var total = 0.0
    var warmest = -Double.infinity

    mutating func add(_ mean: Double) {
        soundings += 1
        total += mean
        warmest = max(warmest, mean)
    }
}

final class BaseStation: Pollable {
    let tag: String
    init(house: String) {
        tag = "house-\(house)"
        PollingHub.shared.register(self)
    }
    func sample(at minute: Int) -> Double { 18 + Double(minute % 60) / 20 }
}

let east = BaseStation(house: "east")
let west = BaseStation(house: "west")
var reports = [BedReport](repeating: BedReport(), count: 12)
var ambient = 0.0

for round in 0..<50 {
    for bed in 0..<12 {
        let probe = Probe(bed: bed, depthCm: 5 + (round % 4) * 10)
        for minute in 0..<6 {
            _ = probe.sample(at: round * 30 + minute)
        }
        reports[bed].add(probe.mean)
    }
    ambient += east.sample(at: round) + west.sample(at: round + 7)
}

for (bed, report) in reports.enumerated() {
    print(String(format: "bed %d: %d soundings, mean %.2f, warmest %.2f", bed, report.soundings, report.total / Double(report.soundings), report.warmest))
}
print(String(format: "ambient mean %.2f, last tag %@", ambient / 100, PollingHub.shared.mostRecentTag))
