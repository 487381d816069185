import Foundation
import Synchronization

struct TelemetryFrame: Sendable {
    let sequence: Int
    let celsius: Double
    let batteryPercent: Int
}

final class ReadingStore: Sendable {
    private struct Totals {
        var frames = 0
        var hottest = -273.0
        var lowBattery = 0
    }

    private let totals = Mutex(Totals())

    func record(_ frame: TelemetryFrame) {
        totals.withLock {
            $0.frames += 1
            $0.hottest = max($0.hottest, frame.celsius)
            if frame.batteryPercent < 15 { $0.lowBattery += 1 }
        }
    }

    var frames: Int { totals.withLock { $0.frames } }
    var summary: String {
        totals.withLock { "frames \($0.frames), hottest \($0.hottest), low battery \($0.lowBattery)" }
    }
}

final class DeviceLink: @unchecked Sendable {
    let serial: String
    private let store: ReadingStore
    private let frames: AsyncStream<TelemetryFrame>
    private let inlet: AsyncStream<TelemetryFrame>.Continuation
    private var reader: Task<Void, Never>?
    private var calibration: [Double]
    private var lastSequence = -1
    private(set) var isOpen = false

    init(serial: String, store: ReadingStore) {
        self.serial = serial
        self.store = store
        (frames, inlet) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
        calibration = (0..<24).map { Double($0) / 16 }
    }

    func open() {
        isOpen = true
        reader = Task {
            for await frame in frames {
                self.handle(frame)
            }
        }
    }

    func deliver(_ frame: TelemetryFrame) {
        guard isOpen else { return }
        inlet.yield(frame)
    }

    private func handle(_ frame: TelemetryFrame) {
        guard frame.sequence > lastSequence else { return }
        lastSequence = frame.sequence
        let offset = calibration[frame.sequence % calibration.count]
        store.record(TelemetryFrame(sequence: frame.sequence,
                                    celsius: frame.celsius + offset,
                                    batteryPercent: frame.batteryPercent))
    }

    func drop() {
        isOpen = false
        calibration.removeAll(keepingCapacity: true)
        calibration.append(0)
    }

    func shutDown() {
        isOpen = false
        inlet.finish()
    }
}

actor TelemetryHub {
    private var links: [String: DeviceLink] = [:]
    private let store: ReadingStore
    private(set) var timeouts = 0

    init(store: ReadingStore) { self.store = store }

    var connected: Int { links.count }

    func connect(_ serial: String) {
        let link = DeviceLink(serial: serial, store: store)
        link.open()
        links[serial] = link
    }

    func route(_ frame: TelemetryFrame, from serial: String) {
        links[serial]?.deliver(frame)
    }

    func signOff(_ serial: String) {
        links.removeValue(forKey: serial)?.shutDown()
    }

    func linkTimedOut(_ serial: String) {
        guard let link = links.removeValue(forKey: serial) else { return }
        timeouts += 1
        link.drop()
    }
}

let store = ReadingStore()
let hub = TelemetryHub(store: store)
var sent = 0

func settle(_ expected: Int) async throws {
    while store.frames < expected {
        try await Task.sleep(for: .milliseconds(1))
    }
}

for shift in 0..<45 {
    let serials = (0..<10).map { "dev-\(shift)-\($0)" }
    for serial in serials { await hub.connect(serial) }
    for sequence in 0..<8 {
        for (index, serial) in serials.enumerated() {
            let frame = TelemetryFrame(sequence: sequence,
                                       celsius: Double((shift * 7 + index * 3 + sequence) % 50),
                                       batteryPercent: (shift + index * 11 + sequence) % 101)
            await hub.route(frame, from: serial)
            sent += 1
        }
    }
    try await settle(sent)
    try await Task.sleep(for: .milliseconds(8))
    for (index, serial) in serials.enumerated() {
        if index < 4 {
            await hub.linkTimedOut(serial)
        } else {
            await hub.signOff(serial)
        }
    }
}

try await Task.sleep(for: .milliseconds(100))
print(store.summary)
print("connected \(await hub.connected), timed out \(await hub.timeouts)")
