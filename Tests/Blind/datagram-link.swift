import Foundation

final class Fragment {
    let sequence: UInt32
    let group: UInt32
    let payload: UInt64

    init(sequence: UInt32, group: UInt32, payload: UInt64) {
        self.sequence = sequence
        self.group = group
        self.payload = payload
    }
}

final class DatagramLink {
    private var sendQueue: [Fragment] = []
    private var unacked: [UInt32: Fragment] = [:]
    private var sequence: UInt32 = 0
    private var group: UInt32 = 0
    private(set) var bytesOnWire = 0

    func send(message: [UInt64]) {
        group += 1
        for word in message {
            sequence += 1
            sendQueue.append(Fragment(sequence: sequence, group: group, payload: word))
        }
    }

    /// Puts everything on the wire and returns the last sequence number of each group.
    func flush() -> [UInt32] {
        var acks: [UInt32: UInt32] = [:]
        for fragment in sendQueue {
            bytesOnWire += MemoryLayout.size(ofValue: fragment.payload)
            unacked[fragment.sequence] = fragment
            acks[fragment.group] = fragment.sequence
        }
        sendQueue.removeAll(keepingCapacity: true)
        return acks.values.sorted()
    }

    func acknowledge(_ sequence: UInt32) {
        unacked.removeValue(forKey: sequence)
    }

    var inFlight: Int { unacked.count }
}

final class Telemetry {
    private var counter: UInt64 = 0
    func sample() -> [UInt64] {
        counter += 1
        return (0..<4).map { counter &* 6364136223846793005 &+ $0 }
    }
}

let link = DatagramLink()
let telemetry = Telemetry()
for _ in 0..<100 {
    for _ in 0..<10 { link.send(message: telemetry.sample()) }
    for ack in link.flush() { link.acknowledge(ack) }
}
print("bytes \(link.bytesOnWire) in flight \(link.inFlight)")
