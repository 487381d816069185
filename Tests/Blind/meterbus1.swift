import Foundation

struct Sample: Sendable {
    let serial: String
    let litres: UInt64
}

actor Ledger {
    private var totals: [String: UInt64] = [:]
    private(set) var samples = 0

    func append(_ sample: Sample) {
        totals[sample.serial, default: 0] &+= sample.litres
        samples += 1
    }

    var meterCount: Int { totals.count }
}

actor WaterMeter {
    let serial: String
    private let ledger: Ledger
    private var register: UInt64
    private var window: [UInt64] = []
    private var poller: Task<Void, Never>?

    init(serial: String, seed: UInt64, ledger: Ledger) {
        self.serial = serial
        self.register = seed
        self.ledger = ledger
    }

    func begin() {
        guard poller == nil else { return }
        poller = Task.detached(priority: .utility) { [weak self] in
            while !Task.isCancelled {
                guard let meter = self else { return }
                await meter.poll()
                try? await Task.sleep(for: .milliseconds(60))
            }
        }
    }

    private func poll() async {
        register = register &* 2862933555777941757 &+ 3037000493
        window.append(register >> 40)
        if window.count > 32 { window.removeFirst(16) }
        let smoothed = window.reduce(0, &+) / UInt64(window.count)
        await ledger.append(Sample(serial: serial, litres: smoothed % 90))
    }

    deinit {
        poller?.cancel()
    }
}

actor Collector {
    private var meters: [String: WaterMeter] = [:]
    private let ledger: Ledger
    private var generation: UInt64 = 0

    init(ledger: Ledger) {
        self.ledger = ledger
    }

    func attach(serial: String) async {
        generation += 1
        let meter = WaterMeter(serial: serial, seed: generation * 31, ledger: ledger)
        meters[serial] = meter
        await meter.begin()
    }

    func detachAll() {
        meters.removeAll()
    }

    var attached: UInt64 { generation }
}

func collect() async throws {
    let ledger = Ledger()
    let collector = Collector(ledger: ledger)
    let serials = (1...9).map { String(format: "WM%03d", $0 * 17) }
    for round in 0..<5 {
        for (slot, serial) in serials.enumerated() where round % 2 == 0 || slot % 2 == 0 {
            await collector.attach(serial: serial)
        }
        try await Task.sleep(for: .milliseconds(170))
    }
    await collector.detachAll()
    try await Task.sleep(for: .milliseconds(250))
    let samples = await ledger.samples
    print("\(await ledger.meterCount) meters, \(samples > 45 ? "all rounds read" : "rounds missing")")
}

try await collect()
