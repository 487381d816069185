// Packet radio relay: frames are taken from a pool of reusable buffers that
// are chained in free lists by size class, filled, forwarded and given back.

final class FrameBuffer {
    var bytes: [UInt8]
    var used = 0
    var nextFree: FrameBuffer?

    init(capacity: Int) {
        bytes = [UInt8](repeating: 0, count: capacity)
    }
}

struct FramePool {
    static let classes = [64, 128, 256, 512, 1024]
    private var freeLists = [FrameBuffer?](repeating: nil, count: FramePool.classes.count)
    private(set) var fresh = 0
    private(set) var reused = 0

    private static func sizeClass(_ n: Int) -> Int {
        classes.firstIndex { n <= $0 } ?? classes.count - 1
    }

    mutating func acquire(capacity: Int) -> FrameBuffer {
        let c = FramePool.sizeClass(capacity)
        if let frame = freeLists[c] {
            freeLists[c] = frame.nextFree
            frame.nextFree = nil
            frame.used = 0
            reused += 1
            return frame
        }
        fresh += 1
        return FrameBuffer(capacity: FramePool.classes[c])
    }

    mutating func release(_ frame: FrameBuffer) {
        let c = FramePool.sizeClass(frame.used)
        frame.nextFree = freeLists[c]
        freeLists[c] = frame
    }
}

struct Beacon {
    let callsign: String
    let sequence: Int
    let payload: Int
}

final class Relay {
    private var pool = FramePool()
    private var airtime = 0
    private var crc: UInt16 = 0xffff
    private var forwarded = 0

    func forward(_ beacon: Beacon) {
        let frame = pool.acquire(capacity: 1024)
        encode(beacon, into: frame)
        transmit(frame)
        pool.release(frame)
    }

    private func encode(_ beacon: Beacon, into frame: FrameBuffer) {
        var n = 0
        for c in beacon.callsign.utf8 {
            frame.bytes[n] = c << 1
            n += 1
        }
        frame.bytes[n] = UInt8(truncatingIfNeeded: beacon.sequence)
        n += 1
        for i in 0..<beacon.payload {
            frame.bytes[n] = UInt8(truncatingIfNeeded: beacon.sequence &* 7 &+ i &* 13)
            n += 1
        }
        frame.used = n
    }

    private func transmit(_ frame: FrameBuffer) {
        for i in 0..<frame.used {
            crc ^= UInt16(frame.bytes[i]) << 8
            for _ in 0..<8 {
                crc = crc & 0x8000 != 0 ? (crc << 1) ^ 0x1021 : crc << 1
            }
        }
        airtime += 12 + frame.used
        forwarded += 1
    }

    func report() {
        print("forwarded \(forwarded) frames, airtime \(airtime) units")
        print("buffers: \(pool.reused) reused, \(pool.fresh) fresh")
        print("crc \(String(crc, radix: 16))")
    }
}

let relay = Relay()
let stations = ["DL1ABC", "OE3KLU", "HB9XYZ", "F5NTR"]
var r = 17

for sequence in 0..<1900 {
    r = (r * 1103 + 12347) % 65521
    let large = r % 9 == 0
    let beacon = Beacon(callsign: stations[r % stations.count],
                        sequence: sequence,
                        payload: large ? 700 + r % 200 : 20 + r % 180)
    relay.forward(beacon)
}
relay.report()
