import Foundation

struct VehicleFrame {
    var vehicle: Int
    var speedKmh: Double
    var odometer: Int
    var doorsOpen: Bool
}

final class FrameNode {
    let sequence: Int
    let frame: VehicleFrame
    var next: FrameNode?

    init(sequence: Int, frame: VehicleFrame) {
        self.sequence = sequence
        self.frame = frame
    }
}

final class FrameCursor {
    let label: String
    fileprivate(set) var position: FrameNode
    private(set) var isOpen = true

    init(label: String, position: FrameNode) {
        self.label = label
        self.position = position
    }

    func read(limit: Int, _ body: (VehicleFrame) -> Void) -> Int {
        guard isOpen else { return 0 }
        var taken = 0
        while taken < limit, let following = position.next {
            body(following.frame)
            position = following
            taken += 1
        }
        return taken
    }

    func close() {
        isOpen = false
    }
}

/// Append-only frame log. The log itself only holds on to the newest frame;
/// each cursor holds the frame it has read last.
final class TelemetryLog {
    private var tail: FrameNode
    private var nextSequence = 1
    private var cursors: [String: FrameCursor] = [:]

    init() {
        tail = FrameNode(sequence: 0, frame: VehicleFrame(vehicle: -1, speedKmh: 0, odometer: 0, doorsOpen: false))
    }

    func append(_ frame: VehicleFrame) {
        let node = FrameNode(sequence: nextSequence, frame: frame)
        nextSequence += 1
        tail.next = node
        tail = node
    }

    func openCursor(_ label: String) -> FrameCursor {
        if let existing = cursors[label], existing.isOpen { return existing }
        let cursor = FrameCursor(label: label, position: tail)
        cursors[label] = cursor
        return cursor
    }

    var openCursorCount: Int { cursors.values.filter { $0.isOpen }.count }
    var newestSequence: Int { tail.sequence }
}

struct SpeedStats {
    var samples = 0
    var total = 0.0
    var peak = 0.0

    mutating func add(_ frame: VehicleFrame) {
        samples += 1
        total += frame.speedKmh
        peak = max(peak, frame.speedKmh)
    }

    var mean: Double { samples == 0 ? 0 : total / Double(samples) }
}

let log = TelemetryLog()
let controlRoom = log.openCursor("control-room")
let workshop = log.openCursor("workshop")
var network = SpeedStats()
var bench = SpeedStats()
var doorEvents = 0

for tick in 0..<150 {
    for slot in 0..<10 {
        let vehicle = (tick * 7 + slot * 3) % 23
        let speed = Double((tick * 31 + slot * 17) % 52)
        log.append(VehicleFrame(vehicle: vehicle, speedKmh: speed, odometer: tick * 40 + slot, doorsOpen: speed == 0))
    }
    _ = controlRoom.read(limit: 64) { frame in
        network.add(frame)
        if frame.doorsOpen { doorEvents += 1 }
    }
    if tick < 30 {
        _ = workshop.read(limit: 64) { bench.add($0) }
    } else if tick == 30 {
        workshop.close()
    }
}

print("frames appended: \(log.newestSequence), open cursors: \(log.openCursorCount)")
print(String(format: "network mean %.2f km/h, peak %.0f km/h, door events %d", network.mean, network.peak, doorEvents))
print(String(format: "workshop bench: %d samples, mean %.2f km/h", bench.samples, bench.mean))
