import Foundation

final class WorkItem: @unchecked Sendable {
    let id: Int
    let body: [UInt8]
    var attempts = 0
    var finishedAt: Int?

    init(id: Int) {
        self.id = id
        self.body = [UInt8](repeating: UInt8(id % 251), count: 400)
    }

    var isHeavy: Bool { id % 9 == 4 }
}

final class Lease: @unchecked Sendable {
    let token: Int
    let item: WorkItem
    let deadline: Int

    init(token: Int, item: WorkItem, deadline: Int) {
        self.token = token
        self.item = item
        self.deadline = deadline
    }
}

actor WorkQueue {
    private var ready: [WorkItem] = []
    private var inFlight: [Int: Lease] = [:]
    private var nextToken = 1
    private var tick = 0
    private(set) var completed = 0

    func submit(_ item: WorkItem) { ready.append(item) }

    func acquire() -> Lease? {
        tick += 1
        guard !ready.isEmpty else { return nil }
        let item = ready.removeFirst()
        item.attempts += 1
        return issue(for: item)
    }

    func renew(_ lease: Lease) -> Lease {
        return issue(for: lease.item)
    }

    func complete(_ lease: Lease) {
        lease.item.finishedAt = tick
        inFlight.removeValue(forKey: lease.token)
        completed += 1
    }

    func requeueOverdue() -> Int {
        var moved = 0
        for lease in inFlight.values where lease.deadline < tick && lease.item.finishedAt == nil {
            inFlight.removeValue(forKey: lease.token)
            ready.append(lease.item)
            moved += 1
        }
        return moved
    }

    private func issue(for item: WorkItem) -> Lease {
        let lease = Lease(token: nextToken, item: item, deadline: tick + 5_000)
        nextToken += 1
        inFlight[lease.token] = lease
        return lease
    }
}

struct Worker {
    let name: String
    let queue: WorkQueue

    func drain() async -> Int {
        var checksum = 0
        while var lease = await queue.acquire() {
            checksum &+= lease.item.body.reduce(0) { $0 &+ Int($1) }
            if lease.item.isHeavy {
                lease = await queue.renew(lease)
                checksum &+= Int(lease.item.body[0])
            }
            await queue.complete(lease)
        }
        return checksum
    }
}

@main
struct LeaseQueueApp {
    static let queue = WorkQueue()

    static func main() async {
        var total = 0
        for round in 0..<20 {
            for i in 0..<45 { await queue.submit(WorkItem(id: round * 45 + i)) }
            total &+= await withTaskGroup(of: Int.self) { group in
                for n in 0..<3 {
                    group.addTask { await Worker(name: "w\(n)", queue: queue).drain() }
                }
                return await group.reduce(0, &+)
            }
            _ = await queue.requeueOverdue()
            try? await Task.sleep(nanoseconds: 45_000_000)
        }
        print("completed \(await queue.completed) checksum \(total)")
    }
}
