import Foundation

struct Lease: Sendable {
    let key: String
    let number: Int
}

final class LeaseTable: @unchecked Sendable {
    private struct Slot {
        var holder: String?
        var queue: [CheckedContinuation<Lease, Never>] = []
    }

    private let lock = NSLock()
    private var slots: [String: Slot] = [:]
    private var issued = 0

    func seize(_ key: String, by holder: String) {
        lock.withLock { slots[key, default: Slot()].holder = holder }
    }

    func acquire(_ key: String, by holder: String) async -> Lease {
        await withCheckedContinuation { continuation in
            let lease: Lease? = lock.withLock {
                if slots[key]?.holder == nil {
                    slots[key, default: Slot()].holder = holder
                    issued += 1
                    return Lease(key: key, number: issued)
                }
                slots[key]!.queue.append(continuation)
                return nil
            }
            if let lease { continuation.resume(returning: lease) }
        }
    }

    func release(_ key: String) {
        let next: (CheckedContinuation<Lease, Never>, Lease)? = lock.withLock {
            guard var slot = slots[key] else { return nil }
            defer { slots[key] = slot }
            if slot.queue.isEmpty {
                slot.holder = nil
                return nil
            }
            issued += 1
            return (slot.queue.removeFirst(), Lease(key: key, number: issued))
        }
        next?.0.resume(returning: next!.1)
    }
}

final class LedgerExporter: @unchecked Sendable {
    let name: String
    private let rows: [Int]
    private let lock = NSLock()
    private var checksum: Int?

    init(name: String, rows: [Int]) {
        self.name = name
        self.rows = rows
    }

    func export(using leases: LeaseTable) {
        Task {
            let lease = await leases.acquire("ledger", by: name)
            write(lease)
            leases.release("ledger")
        }
    }

    private func write(_ lease: Lease) {
        let sum = rows.reduce(lease.number) { ($0 &* 31 &+ $1) % 1_000_003 }
        lock.withLock { checksum = sum }
    }

    var result: Int? { lock.withLock { checksum } }
}

final class NightPlan {
    private let leases: LeaseTable
    private(set) var skipped: [String] = []
    private(set) var exported = 0
    private(set) var vacuumed = 0

    init(leases: LeaseTable) { self.leases = leases }

    func run(night: Int) async throws {
        var batch: [LedgerExporter] = []
        for branch in 1...5 {
            let exporter = LedgerExporter(name: "n\(night)b\(branch)", rows: (0..<200).map { $0 * branch + night })
            exporter.export(using: leases)
            batch.append(exporter)
        }
        for _ in 0..<4 {
            try await Task.sleep(for: .milliseconds(10))
            vacuumed += 25
        }
        for exporter in batch {
            if exporter.result == nil { skipped.append(exporter.name) } else { exported += 1 }
        }
    }

    func vacuum(_ table: String) async {
        _ = await leases.acquire(table, by: "vacuum")
        vacuumed += table.count
        leases.release(table)
    }
}

let leases = LeaseTable()
let plan = NightPlan(leases: leases)
leases.seize("ledger", by: "migration")

for night in 1...9 { try await plan.run(night: night) }

for round in 1...30 {
    for table in ["users", "orders", "audit"] { await plan.vacuum(table + String(round % 4)) }
    try await Task.sleep(for: .milliseconds(12))
}
print("exported \(plan.exported), skipped \(plan.skipped.count) (last \(plan.skipped.last ?? "-")), vacuumed \(plan.vacuumed)")
