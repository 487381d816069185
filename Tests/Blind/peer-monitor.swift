import Dispatch
import Foundation

// Cluster membership: every peer link sends heartbeats from a timer, tracks
// round trip times and is closed when the peer leaves. Peers are simulated.

final class RoundTripEstimator {
    private var smoothed = 0.0
    private var variation = 0.0
    private(set) var samples = 0

    func add(_ milliseconds: Double) {
        samples += 1
        if samples == 1 {
            smoothed = milliseconds
            variation = milliseconds / 2
        } else {
            variation = 0.75 * variation + 0.25 * abs(smoothed - milliseconds)
            smoothed = 0.875 * smoothed + 0.125 * milliseconds
        }
    }

    var timeout: Double { smoothed + 4 * variation }
}

protocol Transport: AnyObject {
    func ping(peer: Int, payload: [UInt8]) -> (latency: Double, checksum: UInt32)
}

final class SimulatedNetwork: Transport {
    private var seed: UInt32 = 362_436_069
    private(set) var pings = 0
    private(set) var checksum: UInt32 = 0

    func ping(peer: Int, payload: [UInt8]) -> (latency: Double, checksum: UInt32) {
        pings += 1
        seed = seed &* 1_664_525 &+ UInt32(truncatingIfNeeded: peer)
        var crc: UInt32 = 0xffff_ffff
        for byte in payload {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xedb8_8320 : crc >> 1 }
        }
        checksum ^= crc
        return (2 + Double(seed >> 24) / 10, crc)
    }
}

final class PeerLink {
    enum Phase { case idle, active, closed }
    let peer: Int
    private let transport: Transport
    private let estimator = RoundTripEstimator()
    private let queue: DispatchQueue
    private var timer: DispatchSourceTimer?
    private var payload: [UInt8]
    private(set) var phase = Phase.idle
    private(set) var beats = 0

    init(peer: Int, transport: Transport, queue: DispatchQueue) {
        self.peer = peer
        self.transport = transport
        self.queue = queue
        payload = (0..<64).map { UInt8(truncatingIfNeeded: peer &* 31 &+ $0) }
    }

    func open(interval: DispatchTimeInterval) {
        phase = .active
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + interval, repeating: interval, leeway: .milliseconds(2))
        timer.setEventHandler { self.beat() }
        timer.resume()
        self.timer = timer
    }

    private func beat() {
        guard phase == .active else { return }
        payload[beats % payload.count] &+= 1
        let answer = transport.ping(peer: peer, payload: payload)
        estimator.add(answer.latency)
        beats += 1
    }

    func close() -> LinkReport {
        phase = .closed
        return LinkReport(peer: peer, beats: beats, timeout: estimator.timeout)
    }
}

struct LinkReport {
    let peer: Int
    let beats: Int
    let timeout: Double
}

struct MemberTable {
    private var joined: [Int: Int] = [:]
    private(set) var epoch = 0
    private(set) var largest = 0

    mutating func join(_ peer: Int) {
        epoch += 1
        joined[peer] = epoch
        largest = max(largest, joined.count)
    }

    mutating func leave(_ peer: Int) {
        epoch += 1
        joined[peer] = nil
    }

    /// Rendezvous hashing: the owner of a key among the present members.
    func owner(of key: Int) -> Int? {
        joined.keys.max { weight($0, key) < weight($1, key) }
    }

    private func weight(_ peer: Int, _ key: Int) -> UInt64 {
        var value = UInt64(peer) &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(key) &* 0xC2B2_AE3D_27D4_EB4F
        value ^= value >> 29
        value = value &* 0xBF58_476D_1CE4_E5B9
        return value ^ value >> 32
    }

    var count: Int { joined.count }
}

final class Cluster {
    private let queue = DispatchQueue(label: "cluster")
    private let network = SimulatedNetwork()
    private var links: [Int: PeerLink] = [:]
    private var members = MemberTable()
    private var owners: [Int: Int] = [:]
    private(set) var moved = 0
    private(set) var departures = 0
    private var slowest = 0.0

    func join(_ peer: Int) {
        queue.sync {
            let link = PeerLink(peer: peer, transport: network, queue: queue)
            links[peer] = link
            members.join(peer)
            link.open(interval: .milliseconds(15))
            rebalance()
        }
    }

    func leave(_ peer: Int) {
        queue.sync {
            guard let link = links.removeValue(forKey: peer) else { return }
            let report = link.close()
            departures += 1
            slowest = max(slowest, report.timeout)
            members.leave(peer)
            rebalance()
        }
    }

    private func rebalance() {
        for key in 0..<256 {
            let owner = members.owner(of: key)
            if owners[key] != owner {
                owners[key] = owner
                moved += 1
            }
        }
    }

    func summary() -> String {
        queue.sync {
            "departures \(departures), members \(members.count), largest \(members.largest), keys moved \(moved), heartbeats sent: \(network.pings > 0)"
        }
    }
}

let cluster = Cluster()
var present: [Int] = []
for step in 0..<96 {
    cluster.join(step)
    present.append(step)
    if present.count > 10 { cluster.leave(present.remove(at: step * 7 % present.count)) }
    usleep(7_000)
}
for peer in present { cluster.leave(peer) }
print(cluster.summary())
