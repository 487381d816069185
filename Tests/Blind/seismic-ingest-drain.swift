// Seismometer network: packets arrive in bursts and are filtered by one thread.
import Foundation

final class TracePacket {
    let station: String
    let sequence: Int
    let samples: [Int32]

    init(station: String, sequence: Int, samples: [Int32]) {
        self.station = station
        self.sequence = sequence
        self.samples = samples
    }
}

final class PacketBuffer: @unchecked Sendable {
    private var packets: [TracePacket] = []
    private var finished = false
    private let condition = NSCondition()
    private(set) var peak = 0

    func append(_ packet: TracePacket) {
        condition.lock()
        packets.append(packet)
        peak = max(peak, packets.count)
        condition.signal()
        condition.unlock()
    }

    func takeAll() -> [TracePacket]? {
        condition.lock()
        defer { condition.unlock() }
        while packets.isEmpty && !finished { condition.wait() }
        if packets.isEmpty { return nil }
        let taken = Array(packets.prefix(32))
        packets.removeFirst(taken.count)
        return taken
    }

    func finish() {
        condition.lock()
        finished = true
        condition.broadcast()
        condition.unlock()
    }
}

struct Trigger {
    private var shortAverage = 1.0
    private var longAverage = 1.0

    /// Classic STA/LTA detector.
    mutating func feed(_ sample: Int32) -> Bool {
        let energy = Double(sample) * Double(sample)
        shortAverage += (energy - shortAverage) * 0.2
        longAverage += (energy - longAverage) * 0.01
        return shortAverage > longAverage * 4
    }
}

final class TriggerThread: @unchecked Sendable {
    private let buffer: PacketBuffer
    private let done = DispatchSemaphore(value: 0)
    private var triggers: [String: Trigger] = [:]
    private(set) var handled = 0
    private(set) var onsets = 0

    init(buffer: PacketBuffer) { self.buffer = buffer }

    func start() {
        Thread { [self] in
            while let batch = buffer.takeAll() {
                for packet in batch { handle(packet) }
                usleep(8000)
            }
            done.signal()
        }.start()
    }

    private func handle(_ packet: TracePacket) {
        var trigger = triggers[packet.station] ?? Trigger()
        var fired = false
        for sample in packet.samples where trigger.feed(sample) { fired = true }
        triggers[packet.station] = trigger
        handled += 1
        if fired { onsets += 1 }
    }

    func join() { done.wait() }
}

let buffer = PacketBuffer()
let detector = TriggerThread(buffer: buffer)
detector.start()

let stations = ["KONO", "NORSAR", "HFS", "UPP", "BER"]
for sequence in 0..<300 {
    for (i, station) in stations.enumerated() {
        let quake = sequence > 120 && sequence < 126
        let samples = (0..<40).map { n -> Int32 in
            let noise = Int32((n * 37 + sequence * 11 + i * 5) % 21) - 10
            return quake ? noise * 60 : noise
        }
        buffer.append(TracePacket(station: station, sequence: sequence, samples: samples))
    }
    if sequence % 30 == 0 { usleep(10_000) }
}
buffer.finish()
detector.join()
print("packets handled: \(detector.handled), onsets: \(detector.onsets)")
print("backlog at its largest exceeded 100: \(buffer.peak > 100)")
