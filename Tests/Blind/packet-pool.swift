import Foundation

final class PacketBuffer {
    var bytes: [UInt8] = Array(repeating: 0, count: 128)
    var length = 0
    private(set) var uses = 0

    func prepare(length: Int) {
        self.length = length
        uses += 1
        for i in 0..<min(8, length) { bytes[i] = UInt8(truncatingIfNeeded: uses &+ i) }
    }
}

final class PacketPool {
    private var free: [PacketBuffer] = []
    private(set) var created = 0

    func take(length: Int) -> PacketBuffer {
        let buffer: PacketBuffer
        if let reused = free.popLast() {
            buffer = reused
        } else {
            created += 1
            buffer = PacketBuffer()
        }
        buffer.prepare(length: length)
        return buffer
    }

    func give(_ buffer: PacketBuffer) {
        free.append(buffer)
    }

    var idle: Int { free.count }
}

final class NetworkInterface {
    private let pool = PacketPool()
    private var inFlight: [PacketBuffer] = []
    private(set) var checksum = 0

    func transmit(count: Int) {
        for n in 0..<count {
            inFlight.append(pool.take(length: 16 + n % 64))
        }
    }

    func complete(count: Int) {
        for buffer in inFlight.prefix(count) {
            checksum &+= buffer.length &* Int(buffer.bytes[0])
            pool.give(buffer)
        }
        inFlight.removeFirst(min(count, inFlight.count))
    }

    func drain() { complete(count: inFlight.count) }

    var stats: String { "created \(pool.created) idle \(pool.idle) in flight \(inFlight.count)" }
}

let nic = NetworkInterface()
for tick in 0..<300 {
    // the traffic has a daily peak in the middle of the run
    let load = 20 + Int(60 * sin(Double(tick) / 300 * Double.pi))
    nic.transmit(count: load)
    nic.complete(count: load - 3 + tick % 7)
    if tick % 25 == 24 { nic.drain() }
}
nic.drain()
print("\(nic.stats) checksum \(nic.checksum)")
