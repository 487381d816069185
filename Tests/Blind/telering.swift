import Foundation
import Synchronization

final class Reading {
    let device: Int
    let moment: Int
    let celsius: Double

    init(device: Int, moment: Int, celsius: Double) {
        self.device = device
        self.moment = moment
        self.celsius = celsius
    }
}

struct ReadingRing {
    private var slots: [Reading?]
    private var head = 0
    private(set) var filled = 0

    init(capacity: Int) {
        slots = Array(repeating: nil, count: capacity)
    }

    mutating func append(_ reading: Reading) {
        slots[head] = reading
        head = (head + 1) % slots.count
        filled = min(filled + 1, slots.count)
    }

    var average: Double {
        let present = slots.compactMap { $0 }
        guard !present.isEmpty else { return 0 }
        return present.reduce(0) { $0 + $1.celsius } / Double(present.count)
    }

    var newest: Reading? {
        slots[(head + slots.count - 1) % slots.count]
    }
}

final class TelemetryHub: Sendable {
    private let rings: Mutex<[Int: ReadingRing]>
    private let alarms = Atomic<Int>(0)
    let capacity: Int

    init(devices: Range<Int>, capacity: Int) {
        self.capacity = capacity
        rings = Mutex(Dictionary(uniqueKeysWithValues: devices.map { ($0, ReadingRing(capacity: capacity)) }))
    }

    func ingest(_ device: Int, moment: Int, celsius: Double) {
        let spike = rings.withLock { table -> Bool in
            guard var ring = table[device] else { return false }
            let spike = ring.filled > 4 && abs(celsius - ring.average) > 6
            ring.append(Reading(device: device, moment: moment, celsius: celsius))
            table[device] = ring
            return spike
        }
        if spike { alarms.add(1, ordering: .relaxed) }
    }

    func averages() -> [Double] {
        rings.withLock { table in
            table.keys.sorted().map { table[$0]!.average }
        }
    }

    func newestMoment() -> Int {
        rings.withLock { $0.values.compactMap { $0.newest?.moment }.max() ?? 0 }
    }

    var alarmCount: Int { alarms.load(ordering: .relaxed) }
}

@main
struct HubService {
    static let hub = TelemetryHub(devices: 0..<10, capacity: 32)

    static func main() async throws {
        for moment in 1...100 {
            await withTaskGroup(of: Void.self) { group in
                for device in 0..<12 {
                    group.addTask {
                        let wave = Double((moment * 7 + device * 3) % 20) / 4
                        let spike = moment % 25 == device ? 15.0 : 0
                        hub.ingest(device, moment: moment, celsius: 18 + wave + spike)
                    }
                }
            }
            try await Task.sleep(for: .milliseconds(5))
        }
        let mean = hub.averages().reduce(0, +) / 10
        print("telering: newest \(hub.newestMoment()), alarms \(hub.alarmCount), mean \(String(format: "%.2f", mean))")
    }
}
