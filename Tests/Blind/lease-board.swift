import Foundation
import Dispatch

struct Grant {
    let resource: String
    let holder: String
    let token: Int
}

/// A time-limited right to a resource that renews itself at half its time to live.
final class Lease {
    let grant: Grant
    private let timeToLive: Int
    private let queue: DispatchQueue
    private var expiry: DispatchTime
    private var renewals = 0
    private var released = false

    init(grant: Grant, timeToLive: Int, queue: DispatchQueue) {
        self.grant = grant
        self.timeToLive = timeToLive
        self.queue = queue
        expiry = .now() + .milliseconds(timeToLive)
        scheduleRenewal()
    }

    private func scheduleRenewal() {
        queue.asyncAfter(deadline: .now() + .milliseconds(timeToLive / 2)) {
            if self.released { return }
            self.expiry = .now() + .milliseconds(self.timeToLive)
            self.renewals += 1
            self.scheduleRenewal()
        }
    }

    var isValid: Bool { !released && expiry > .now() }

    func release() {
        released = true
    }
}

enum BoardError: Error {
    case heldBy(String)
}

final class LeaseBoard {
    let queue = DispatchQueue(label: "lease-board")
    private var leases: [String: Lease] = [:]
    private var nextToken = 1
    private var refusals = 0

    func acquire(_ resource: String, for holder: String) throws -> Grant {
        try queue.sync {
            if let current = leases[resource], current.grant.holder != holder {
                refusals += 1
                throw BoardError.heldBy(current.grant.holder)
            }
            let grant = Grant(resource: resource, holder: holder, token: nextToken)
            nextToken += 1
            leases[resource] = Lease(grant: grant, timeToLive: 20, queue: queue)
            return grant
        }
    }

    func release(_ grant: Grant) {
        queue.sync {
            guard let lease = leases[grant.resource], lease.grant.holder == grant.holder else { return }
            lease.release()
            leases[grant.resource] = nil
        }
    }

    var report: (granted: Int, held: Int, refused: Int) {
        queue.sync { (nextToken - 1, leases.count, refusals) }
    }
}

struct Migration {
    let shard: Int
    let needsSchemaChange: Bool
    let duration: UInt32

    func run(on board: LeaseBoard, round: Int) throws -> Int {
        let holder = "migrator-\(round)-\(shard)"
        let grant = try board.acquire("shard-\(shard)", for: holder)
        defer { board.release(grant) }
        var moved = copyRows(seed: shard &* 31 &+ round)
        if needsSchemaChange {
            moved += try changeSchema(on: board, holder: holder)
        }
        usleep(duration)
        return moved
    }

    /// Also called from the admin tool, so it takes the lease on its own account.
    private func changeSchema(on board: LeaseBoard, holder: String) throws -> Int {
        let grant = try board.acquire("shard-\(shard)", for: holder)
        return grant.token > 0 ? 1 : 0
    }

    private func copyRows(seed: Int) -> Int {
        var state = UInt64(truncatingIfNeeded: seed) | 1
        var rows = 0
        for _ in 0..<2_000 {
            state = state &* 6364136223846793005 &+ 1442695040888963407
            rows += Int(state >> 63)
        }
        return rows
    }
}

let board = LeaseBoard()
let workers = DispatchQueue(label: "workers", attributes: .concurrent)
let tally = NSLock()
var movedRows = 0
var failures = 0

for round in 0..<32 {
    let group = DispatchGroup()
    for shard in 0..<9 {
        let migration = Migration(shard: shard,
                                  needsSchemaChange: (shard + round) % 9 < 2,
                                  duration: UInt32(2_000 + (shard * 7 + round) % 5 * 3_000))
        workers.async(group: group) {
            do {
                let rows = try migration.run(on: board, round: round)
                tally.lock()
                movedRows += rows
                tally.unlock()
            } catch {
                tally.lock()
                failures += 1
                tally.unlock()
            }
        }
    }
    group.wait()
}

usleep(60_000)
let report = board.report
print("granted=\(report.granted) held=\(report.held) refused=\(report.refused)")
print("moved \(movedRows) rows, \(failures) failures")
