import Foundation

class Target {
    /// Returns the tick of the next firing, or nil when the target is done.
    func fire(at tick: UInt32) -> UInt32? { nil }
}

final class Reminder: Target {
    private let text: String
    private unowned let outbox: Outbox

    init(text: String, outbox: Outbox) {
        self.text = text
        self.outbox = outbox
    }

    override func fire(at tick: UInt32) -> UInt32? {
        outbox.post(text, tick: tick)
        return nil
    }
}

final class Probe: Target {
    private let host: Int
    private let period: UInt32
    private var samples = [UInt32](repeating: 0, count: 8)
    private var taken = 0
    private unowned let outbox: Outbox

    init(host: Int, period: UInt32, outbox: Outbox) {
        self.host = host
        self.period = period
        self.outbox = outbox
    }

    override func fire(at tick: UInt32) -> UInt32? {
        samples[taken % samples.count] = (tick &* 2_654_435_761) >> 24
        taken += 1
        outbox.record(host: host, level: samples.max() ?? 0)
        return tick + period
    }
}

final class Outbox {
    private(set) var posted = 0
    private(set) var length = 0
    private var levels: [Int: UInt32] = [:]

    func post(_ text: String, tick: UInt32) {
        posted += 1
        length += text.utf8.count
    }

    func record(host: Int, level: UInt32) {
        levels[host] = level
    }

    var hosts: Int { levels.count }
    var peak: UInt32 { levels.values.max() ?? 0 }
}

/// Timer wheel whose slots lie in one block of memory. A record is twelve bytes:
/// the tick (4) and the target (8), packed as the recorder on disk expects them.
final class PackedWheel {
    private static let recordSize = 12
    private let slotCount = 128
    private let recordsPerSlot = 48
    private let block: UnsafeMutableRawPointer
    private var used: [Int]
    private(set) var now: UInt32 = 0
    private(set) var firings = 0

    init() {
        let size = slotCount * recordsPerSlot * Self.recordSize
        block = .allocate(byteCount: size, alignment: 16)
        block.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        used = Array(repeating: 0, count: slotCount)
    }

    private func offset(slot: Int, index: Int) -> Int {
        (slot * recordsPerSlot + index) * Self.recordSize
    }

    func add(_ target: Target, due: UInt32) {
        write(Unmanaged.passRetained(target).toOpaque(), due: due)
    }

    private func write(_ pointer: UnsafeMutableRawPointer, due: UInt32) {
        let slot = Int(due) % slotCount
        precondition(used[slot] < recordsPerSlot, "slot is full")
        let place = offset(slot: slot, index: used[slot])
        block.storeBytes(of: due, toByteOffset: place, as: UInt32.self)
        block.storeBytes(of: UInt64(UInt(bitPattern: pointer)), toByteOffset: place + 4, as: UInt64.self)
        used[slot] += 1
    }

    func advance() {
        now += 1
        let slot = Int(now) % slotCount
        let count = used[slot]
        let start = offset(slot: slot, index: 0)
        let batch = [UInt8](UnsafeRawBufferPointer(start: block + start, count: count * Self.recordSize))
        memset(block + start, 0, count * Self.recordSize)
        used[slot] = 0
        batch.withUnsafeBytes { bytes in
            for index in 0..<count {
                let due = bytes.loadUnaligned(fromByteOffset: index * Self.recordSize, as: UInt32.self)
                let word = bytes.loadUnaligned(fromByteOffset: index * Self.recordSize + 4, as: UInt64.self)
                let pointer = UnsafeMutableRawPointer(bitPattern: UInt(word))!
                if due > now {
                    write(pointer, due: due)
                    continue
                }
                let handle = Unmanaged<Target>.fromOpaque(pointer)
                firings += 1
                if let next = handle.takeUnretainedValue().fire(at: now) {
                    write(pointer, due: next)
                } else {
                    handle.release()
                }
            }
        }
    }
}

let outbox = Outbox()
let wheel = PackedWheel()
var host = 0
for round in 0..<40 {
    if (12..<28).contains(round) {
        for _ in 0..<4 {
            wheel.add(Probe(host: host, period: UInt32(17 + host % 90), outbox: outbox), due: wheel.now + 3)
            host += 1
        }
    }
    for step in 0..<25 {
        for n in 0..<3 {
            let delay = UInt32(5 + (step * 7 + n * 31) % 160)
            wheel.add(Reminder(text: "round \(round) step \(step)", outbox: outbox), due: wheel.now + delay)
        }
        wheel.advance()
    }
    usleep(12_000)
}
for _ in 0..<400 { wheel.advance() }
print("\(wheel.firings) firings, \(outbox.posted) reminders of \(outbox.length) bytes, \(outbox.hosts) hosts, peak \(outbox.peak)")
