import Foundation

final class Lease {
    let resource: String
    let holder: Int
    fileprivate(set) var expiry = 0
    fileprivate(set) var renewals = 0
    fileprivate(set) var isOpen = true

    init(resource: String, holder: Int) {
        self.resource = resource
        self.holder = holder
    }
}

struct WheelEntry {
    let lease: Lease
    var due: Int
}

/// Hashed wheel: one slot per tick, an entry is looked at once per lap.
final class LeaseWheel {
    private let slotCount: Int
    private var slots: [[WheelEntry]]
    private(set) var now = 0
    private(set) var expired = 0
    var onExpire: (Lease) -> Void = { _ in }

    init(slotCount: Int) {
        self.slotCount = slotCount
        slots = Array(repeating: [], count: slotCount)
    }

    func arm(_ lease: Lease, ttl: Int) {
        lease.expiry = now + ttl
        slots[lease.expiry % slotCount].append(WheelEntry(lease: lease, due: lease.expiry))
    }

    func renew(_ lease: Lease, ttl: Int) {
        lease.renewals += 1
        arm(lease, ttl: ttl)
    }

    func release(_ lease: Lease) {
        slots[lease.expiry % slotCount].removeAll { $0.lease === lease }
        lease.expiry = .max
    }

    func tick() {
        now += 1
        let slot = now % slotCount
        let batch = slots[slot]
        slots[slot].removeAll(keepingCapacity: true)
        for var entry in batch {
            if entry.due > now {
                slots[slot].append(entry)
            } else if entry.lease.expiry > now {
                // Renewed since this entry was made: look again next lap.
                entry.due = now + slotCount
                slots[slot].append(entry)
            } else if entry.lease.isOpen {
                entry.lease.isOpen = false
                expired += 1
                onExpire(entry.lease)
            }
        }
    }
}

struct Ledger {
    var granted = 0
    var released = 0
    var renewals = 0
    var expiredByResource: [String: Int] = [:]

    mutating func noteExpiry(_ lease: Lease) {
        expiredByResource[lease.resource, default: 0] += 1
    }
}

var ledger = Ledger()
let wheel = LeaseWheel(slotCount: 64)
wheel.onExpire = { ledger.noteExpiry($0) }

func serveRound(_ round: Int) {
    var held: [Lease] = []
    for i in 0..<8 {
        let lease = Lease(resource: "volume-\((round + i) % 5)", holder: round * 8 + i)
        wheel.arm(lease, ttl: 90)
        ledger.granted += 1
        held.append(lease)
    }
    for _ in 0..<10 { wheel.tick() }

    for (i, lease) in held.enumerated() where i % 4 == 0 {
        wheel.renew(lease, ttl: 90)
        ledger.renewals += 1
    }
    for _ in 0..<30 { wheel.tick() }

    // Two clients of each round go away without giving their lease back.
    for (i, lease) in held.enumerated() where i != 3 && i != 5 {
        wheel.release(lease)
        ledger.released += 1
    }
}

for round in 0..<45 {
    serveRound(round)
    usleep(11_000)
}
for _ in 0..<256 { wheel.tick() }

let summary = ledger.expiredByResource.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
print("granted \(ledger.granted) renewed \(ledger.renewals) released \(ledger.released) expired \(wheel.expired)")
print(summary.joined(separator: " "))
