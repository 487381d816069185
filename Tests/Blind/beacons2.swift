import Foundation
import Dispatch

struct Advertisement {
    let serial: String
    let zone: Int
    let strength: Int
}

final class Gateway {
    private var perZone: [Int: Int] = [:]
    private var known: Set<String> = []
    private(set) var ignored = 0

    func admit(_ serial: String) {
        known.insert(serial)
    }

    func dismiss(_ serial: String) {
        known.remove(serial)
    }

    func receive(_ advertisement: Advertisement) {
        guard known.contains(advertisement.serial) else {
            ignored += 1
            return
        }
        perZone[advertisement.zone, default: 0] += 1
    }

    var zones: Int { perZone.count }
    var heard: Int { perZone.values.reduce(0, +) }
}

final class CargoBeacon {
    let serial: String
    private unowned let gateway: Gateway
    private let queue: DispatchQueue
    private var state: UInt32
    private var history: [Int] = []

    init(serial: String, seed: UInt32, gateway: Gateway, queue: DispatchQueue) {
        self.serial = serial
        self.state = seed
        self.gateway = gateway
        self.queue = queue
    }

    func arm() {
        queue.asyncAfter(deadline: .now() + .milliseconds(50)) {
            self.advertise()
            self.arm()
        }
    }

    private func advertise() {
        state = state &* 1_664_525 &+ 1_013_904_223
        let strength = -40 - Int(state >> 26)
        history.append(strength)
        if history.count > 8 { history.removeFirst() }
        gateway.receive(Advertisement(serial: serial, zone: Int(state >> 16) % 6, strength: strength))
    }

    var average: Int {
        history.isEmpty ? 0 : history.reduce(0, +) / history.count
    }
}

final class Terminal {
    private let gateway = Gateway()
    private let queue = DispatchQueue(label: "yard.radio")
    private var beacons: [String: CargoBeacon] = [:]
    private var weakest = 0

    func unload(ship: Int, containers: Int) {
        queue.sync {
            for slot in 0..<containers {
                let serial = "S\(ship)-C\(slot)"
                gateway.admit(serial)
                let beacon = CargoBeacon(serial: serial, seed: UInt32(ship * 31 + slot), gateway: gateway, queue: queue)
                beacon.arm()
                beacons[serial] = beacon
            }
        }
    }

    func clear(ship: Int) {
        queue.sync {
            for (serial, beacon) in beacons where serial.hasPrefix("S\(ship)-") {
                weakest = min(weakest, beacon.average)
                gateway.dismiss(serial)
                beacons[serial] = nil
            }
        }
    }

    var report: String {
        queue.sync {
            "beacons \(beacons.count), zones \(gateway.zones), heard \(gateway.heard > 30), weakest below -40: \(weakest < -40)"
        }
    }
}

let terminal = Terminal()
for ship in 0..<5 {
    terminal.unload(ship: ship, containers: 4)
    Thread.sleep(forTimeInterval: 0.22)
    terminal.clear(ship: ship)
}
print(terminal.report)
