import Foundation

final class Quake {
    let id: Int
    let magnitude: Double
    let depthKm: Int
    var next: Quake?

    init(id: Int, magnitude: Double, depthKm: Int) {
        self.id = id
        self.magnitude = magnitude
        self.depthKm = depthKm
    }
}

struct QuakeHistory: Sequence {
    private var oldest: Quake?
    private var newest: Quake?
    private(set) var count = 0
    let limit: Int

    init(limit: Int) { self.limit = limit }

    mutating func record(_ quake: Quake) {
        if let n = newest {
            n.next = quake
        } else {
            oldest = quake
        }
        newest = quake
        count += 1
        while count > limit, let first = oldest {
            oldest = first.next
            first.next = nil
            count -= 1
        }
    }

    struct Iterator: IteratorProtocol {
        var cursor: Quake?
        mutating func next() -> Quake? {
            defer { cursor = cursor?.next }
            return cursor
        }
    }

    func makeIterator() -> Iterator { Iterator(cursor: oldest) }
}

final class Observatory {
    let region: String
    private var history: QuakeHistory
    private var recorded = 0
    private(set) var warnings = 0

    init(region: String, window: Int) {
        self.region = region
        history = QuakeHistory(limit: window)
    }

    func detect(magnitude: Double, depthKm: Int) {
        recorded += 1
        history.record(Quake(id: recorded, magnitude: magnitude, depthKm: depthKm))
        if recorded % 50 == 0 {
            assess()
        }
    }

    private func assess() {
        var energy = 0.0
        for quake in history {
            energy += pow(10, 1.5 * quake.magnitude) / Double(10 + quake.depthKm)
        }
        if energy > 9_000 { warnings += 1 }
    }

    func bulletin() -> String {
        var shallow = 0
        var strongest: Quake?
        for quake in history {
            if quake.depthKm < 15 { shallow += 1 }
            if quake.magnitude > (strongest?.magnitude ?? 0) { strongest = quake }
        }
        let top = strongest.map { String(format: "M%.2f (#%d)", $0.magnitude, $0.id) } ?? "none"
        return "\(region): \(recorded) recorded, window \(history.count), shallow \(shallow), strongest \(top), warnings \(warnings)"
    }
}

var state: UInt64 = 0x9E3779B97F4A7C15
func uniform() -> Double {
    state = state &* 6364136223846793005 &+ 1
    return Double(state >> 40) / Double(1 << 24)
}

let observatories = [
    Observatory(region: "Hengill", window: 300),
    Observatory(region: "Katla", window: 450),
    Observatory(region: "Krafla", window: 200),
]

for hour in 0..<2600 {
    for (i, station) in observatories.enumerated() where (hour + i) % 2 == 0 || uniform() < 0.3 {
        let magnitude = -log10(1 - uniform() * 0.9999) + 0.4
        station.detect(magnitude: magnitude, depthKm: Int(uniform() * 40))
    }
}

for station in observatories {
    print(station.bulletin())
}
