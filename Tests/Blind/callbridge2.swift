import Foundation

struct RTPPacket {
    let sequence: UInt16
    let payload: [UInt8]
}

final class CallLeg {
    enum State {
        case ringing
        case bridged(with: CallLeg, since: Int)
        case ended(duration: Int)
    }

    let number: String
    private(set) var state = State.ringing
    private(set) var received = 0
    private var jitter: [UInt16] = []

    init(number: String) {
        self.number = number
    }

    func bridge(to other: CallLeg, at time: Int) {
        state = .bridged(with: other, since: time)
        other.state = .bridged(with: self, since: time)
    }

    func reject(at time: Int) {
        state = .ended(duration: 0)
    }

    func relay(_ packet: RTPPacket) {
        if case .bridged(let peer, _) = state {
            peer.deliver(packet)
        }
    }

    private func deliver(_ packet: RTPPacket) {
        jitter.append(packet.sequence)
        if jitter.count > 16 {
            jitter.sort()
            jitter.removeFirst(8)
        }
        received += packet.payload.count
    }

    func duration(at time: Int) -> Int {
        switch state {
        case .ringing: return 0
        case .bridged(_, let since): return time - since
        case .ended(let duration): return duration
        }
    }
}

struct CallRecord {
    let from: String
    let to: String
    let seconds: Int
    let octets: Int
}

struct PBX {
    private struct Call {
        let legs: [CallLeg]
    }

    private var calls: [Int: Call] = [:]
    private var nextID = 0
    private(set) var records: [CallRecord] = []
    private(set) var rejected = 0

    mutating func dial(from: String, to: String, at time: Int, busy: Bool) -> Int? {
        let legs = [from, to].map { CallLeg(number: $0) }
        if busy {
            legs.forEach { $0.reject(at: time) }
            rejected += 1
            return nil
        }
        legs[0].bridge(to: legs[1], at: time)
        nextID += 1
        calls[nextID] = Call(legs: legs)
        return nextID
    }

    func media(_ id: Int, packets: Int) {
        guard let call = calls[id] else { return }
        for n in 0..<packets {
            let packet = RTPPacket(sequence: UInt16(n), payload: [UInt8](repeating: UInt8(n & 0xff), count: 160))
            call.legs[n % 2].relay(packet)
        }
    }

    mutating func hangUp(_ id: Int, at time: Int) {
        guard let call = calls.removeValue(forKey: id) else { return }
        records.append(CallRecord(
            from: call.legs[0].number,
            to: call.legs[1].number,
            seconds: call.legs[0].duration(at: time),
            octets: call.legs.reduce(0) { $0 + $1.received }
        ))
    }
}

@main
enum Exchange {
    static func main() {
        var pbx = PBX()
        var time = 0
        for hour in 0..<10 {
            var active: [Int] = []
            for n in 0..<9 {
                time += 3
                if let id = pbx.dial(from: "20\(n)", to: "03\(hour)\(n)", at: time, busy: n % 3 == 2) {
                    active.append(id)
                }
            }
            for id in active {
                pbx.media(id, packets: 200)
            }
            Thread.sleep(forTimeInterval: 0.07)
            for id in active {
                time += 11
                pbx.hangUp(id, at: time)
            }
        }
        let seconds = pbx.records.reduce(0) { $0 + $1.seconds }
        let octets = pbx.records.reduce(0) { $0 + $1.octets }
        print("calls \(pbx.records.count), rejected \(pbx.rejected), seconds \(seconds), octets \(octets)")
    }
}
