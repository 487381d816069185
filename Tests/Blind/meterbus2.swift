import Foundation

struct Reading: Sendable {
    let serial: String
    let wattHours: UInt64
    let quality: Double
}

actor ReadingStore {
    private var totals: [String: UInt64] = [:]
    private(set) var samples = 0

    func append(_ reading: Reading) {
        totals[reading.serial, default: 0] &+= reading.wattHours
        samples += 1
    }

    func report() -> String {
        "\(totals.count) meters"
    }
}

actor MeterSession {
    let serial: String
    private let store: ReadingStore
    private var register: UInt64
    private var frame = [UInt8](repeating: 0, count: 256)
    private var poller: Task<Void, Never>?

    init(serial: String, seed: UInt64, store: ReadingStore) {
        self.serial = serial
        self.register = seed
        self.store = store
    }

    func begin() {
        poller = Task.detached(priority: .utility) { [self] in
            while !Task.isCancelled {
                await poll()
                try? await Task.sleep(for: .milliseconds(90))
            }
        }
    }

    func end() {
        poller?.cancel()
        poller = nil
    }

    private func poll() async {
        register = register &* 6364136223846793005 &+ 1442695040888963407
        for i in frame.indices {
            frame[i] = UInt8(truncatingIfNeeded: register >> UInt64(i % 56))
        }
        let sum = frame.reduce(0) { $0 &+ UInt64($1) }
        await store.append(Reading(serial: serial, wattHours: sum % 500, quality: Double(sum % 100) / 100))
    }
}

actor Concentrator {
    private var sessions: [String: MeterSession] = [:]
    private let store: ReadingStore
    private(set) var connects = 0

    init(store: ReadingStore) {
        self.store = store
    }

    func open(serial: String) async {
        connects += 1
        let session = MeterSession(serial: serial, seed: UInt64(connects) * 97, store: store)
        sessions[serial] = session
        await session.begin()
    }

    func stop() async {
        for session in sessions.values {
            await session.end()
        }
        sessions.removeAll()
    }
}

func runShift() async throws {
    let store = ReadingStore()
    let concentrator = Concentrator(store: store)
    let serials = (1...8).map { String(format: "EM%04d", $0 * 113) }

    for _ in 0..<5 {
        for serial in serials {
            await concentrator.open(serial: serial)
        }
        try await Task.sleep(for: .milliseconds(180))
    }
    await concentrator.stop()
    try await Task.sleep(for: .milliseconds(200))

    let samples = await store.samples
    print("\(await store.report()), \(await concentrator.connects) connects, readings \(samples > 40 ? "complete" : "partial")")
}

try await runShift()
