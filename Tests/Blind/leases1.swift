import Foundation
import Dispatch

struct Lease: Hashable {
    let resource: String
    let owner: String
}

final class LeaseTable {
    private let lock = NSLock()
    private var expiry: [Lease: Int] = [:]
    private(set) var renewals = 0

    func extend(_ lease: Lease, to tick: Int) {
        lock.lock()
        defer { lock.unlock() }
        expiry[lease] = tick
        renewals += 1
    }

    func forget(_ lease: Lease) {
        lock.lock()
        defer { lock.unlock() }
        expiry[lease] = nil
    }

    var active: Int {
        lock.lock()
        defer { lock.unlock() }
        return expiry.count
    }
}

final class LeaseKeeper {
    let lease: Lease
    private let table: LeaseTable
    private let timer: DispatchSourceTimer
    private var tick = 0
    private var released = false
    private var signature = [UInt8](repeating: 0, count: 128)

    init(lease: Lease, table: LeaseTable, queue: DispatchQueue) {
        self.lease = lease
        self.table = table
        self.timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + .milliseconds(10), repeating: .milliseconds(70))
        timer.setEventHandler {
            self.renew()
        }
        timer.resume()
    }

    private func renew() {
        guard !released else { return }
        tick += 1
        for i in signature.indices {
            signature[i] = signature[i] &* 33 &+ UInt8(truncatingIfNeeded: tick ^ i)
        }
        table.extend(lease, to: tick + 3)
    }

    func release() {
        released = true
        table.forget(lease)
    }

    deinit {
        timer.cancel()
    }
}

final class LockClient {
    private let table = LeaseTable()
    private let queue = DispatchQueue(label: "lease.renewal")
    private var keepers: [String: LeaseKeeper] = [:]

    func hold(_ resource: String, owner: String) {
        queue.sync {
            let lease = Lease(resource: resource, owner: owner)
            keepers[resource] = LeaseKeeper(lease: lease, table: table, queue: queue)
        }
    }

    func letGo(_ resource: String) {
        queue.sync {
            keepers.removeValue(forKey: resource)?.release()
        }
    }

    var summary: String {
        queue.sync {
            "held \(keepers.count), active leases \(table.active), renewed \(table.renewals > 28)"
        }
    }
}

func runMigrations() -> String {
    let client = LockClient()
    for batch in 0..<7 {
        let resources = (0..<4).map { "shard-\(batch * 4 + $0)" }
        for resource in resources {
            client.hold(resource, owner: "migrator-\(batch)")
        }
        var rows: [String: Int] = [:]
        for n in 0..<20_000 {
            rows["k\(n % 97)", default: 0] += n % 13
        }
        Thread.sleep(forTimeInterval: 0.15)
        for resource in resources {
            client.letGo(resource)
        }
    }
    return client.summary
}

print(runMigrations())
