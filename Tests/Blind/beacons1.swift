import Foundation
import Dispatch

struct Sighting {
    let tag: String
    let zone: Int
    let strength: Int
}

final class SightingLog {
    private(set) var perZone: [Int: Int] = [:]
    private(set) var total = 0

    func record(_ sighting: Sighting) {
        perZone[sighting.zone, default: 0] += 1
        total += 1
    }
}

final class AssetTag {
    let serial: String
    private let log: SightingLog
    private let queue: DispatchQueue
    private var powered = false
    private var state: UInt32
    private var history: [Int] = []

    init(serial: String, seed: UInt32, log: SightingLog, queue: DispatchQueue) {
        self.serial = serial
        self.state = seed
        self.log = log
        self.queue = queue
    }

    func powerOn() {
        powered = true
        rearm()
    }

    func powerOff() {
        powered = false
    }

    private func rearm() {
        queue.asyncAfter(deadline: .now() + .milliseconds(50)) {
            guard self.powered else { return }
            self.advertise()
            self.rearm()
        }
    }

    private func advertise() {
        state = state &* 1_664_525 &+ 1_013_904_223
        let strength = -40 - Int(state >> 26)
        history.append(strength)
        if history.count > 8 { history.removeFirst() }
        log.record(Sighting(tag: serial, zone: Int(state >> 16) % 6, strength: strength))
    }

    var average: Int {
        history.isEmpty ? 0 : history.reduce(0, +) / history.count
    }
}

final class Site {
    private var tags: [String: AssetTag] = [:]
    private let log = SightingLog()
    private let queue = DispatchQueue(label: "site.radio")
    private var departed = 0
    private var weakest = 0

    func arrive(_ serial: String, seed: UInt32) {
        queue.sync {
            let tag = AssetTag(serial: serial, seed: seed, log: log, queue: queue)
            tag.powerOn()
            tags[serial] = tag
        }
    }

    func depart(_ serial: String) {
        queue.sync {
            guard let tag = tags.removeValue(forKey: serial) else { return }
            tag.powerOff()
            weakest = min(weakest, tag.average)
            departed += 1
        }
    }

    var present: [String] { queue.sync { tags.keys.sorted() } }

    var report: String {
        queue.sync {
            "departed \(departed), zones \(log.perZone.count), sightings \(log.total > 40), weakest below -40: \(weakest < -40)"
        }
    }
}

let site = Site()
for gate in 0..<4 {
    site.arrive("GATE-\(gate)", seed: UInt32(gate) + 900)
}
for truck in 0..<6 {
    for item in 0..<4 {
        site.arrive("T\(truck)-\(item)", seed: UInt32(truck * 17 + item))
    }
    Thread.sleep(forTimeInterval: 0.18)
    for item in 0..<4 {
        site.depart("T\(truck)-\(item)")
    }
}
for serial in site.present {
    site.depart(serial)
}
Thread.sleep(forTimeInterval: 0.2)
print(site.report)
