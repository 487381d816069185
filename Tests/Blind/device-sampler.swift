import Foundation

struct Reading: Sendable {
    let at: Int
    let celsius: Double
}

actor DeviceSampler {
    nonisolated let serial: String
    private var readings: [Reading] = []
    private var loop: Task<Void, Never>?
    private var tick = 0

    init(serial: String) {
        self.serial = serial
    }

    func begin(every ms: Int) {
        loop = Task.detached(priority: .utility) {
            while !Task.isCancelled {
                await self.sample()
                try? await Task.sleep(for: .milliseconds(ms))
            }
        }
    }

    private func sample() {
        tick += 1
        readings.append(Reading(at: tick, celsius: 20 + Double(tick % 7)))
        if readings.count > 100 { readings.removeFirst(50) }
    }

    func shutdown() -> Int {
        loop?.cancel()
        loop = nil
        let n = readings.count
        readings.removeAll()
        return n
    }
}

actor Fleet {
    private var samplers: [String: DeviceSampler] = [:]
    private(set) var collected = 0

    func connect(_ serial: String) async {
        let sampler = DeviceSampler(serial: serial)
        await sampler.begin(every: 40)
        samplers[serial] = sampler
    }

    func disconnect(_ serial: String) async {
        guard let sampler = samplers.removeValue(forKey: serial) else { return }
        collected += await sampler.shutdown()
    }

    func disconnectAll() async {
        for serial in samplers.keys.sorted() { await disconnect(serial) }
    }
}

@main
struct Telemetry {
    static func main() async throws {
        let fleet = Fleet()
        for round in 0..<4 {
            for n in 0..<15 { await fleet.connect("dev-\(n)") }
            try await Task.sleep(for: .milliseconds(50))
            // Five devices lose their link and come back.
            for n in 0..<5 { await fleet.connect("dev-\((n + round) % 15)") }
            try await Task.sleep(for: .milliseconds(50))
            await fleet.disconnectAll()
        }
        try await Task.sleep(for: .milliseconds(250))
        print("telemetry readings:", await fleet.collected > 0)
    }
}
