import Foundation
import Synchronization

actor LeaseBroker {
    private var idle: [Int]
    private var queue: [CheckedContinuation<Int, Never>] = []
    private(set) var granted = 0

    init(slots: Int) {
        idle = Array(0..<slots)
    }

    func acquire() async -> Int {
        granted += 1
        if let slot = idle.popLast() {
            return slot
        }
        return await withCheckedContinuation { queue.append($0) }
    }

    func release(_ slot: Int) {
        if queue.isEmpty {
            idle.append(slot)
        } else {
            queue.removeFirst().resume(returning: slot)
        }
    }
}

final class LeaseClient: Sendable {
    enum Phase: Sendable {
        case queued, working, done, expired
    }

    private struct Box {
        var phase = Phase.queued
        var task: Task<Void, Never>?
        var checksum = 0
    }

    let name: String
    let payload: [UInt8]
    private let box = Mutex(Box())

    init(name: String, size: Int) {
        self.name = name
        payload = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    }

    func begin(with broker: LeaseBroker) {
        let task = Task.detached {
            let slot = await broker.acquire()
            self.crunch(on: slot)
            await broker.release(slot)
        }
        box.withLock { $0.task = task }
    }

    private func crunch(on slot: Int) {
        let sum = payload.reduce(0) { ($0 &* 17 &+ Int($1)) % 65_521 }
        box.withLock {
            guard $0.phase == .queued else { return }
            $0.checksum = sum
            $0.phase = .done
        }
    }

    func outcome(within limit: Duration) async -> Int? {
        let clock = ContinuousClock()
        let deadline = clock.now + limit
        while clock.now < deadline {
            let (phase, sum) = box.withLock { ($0.phase, $0.checksum) }
            if phase == .done { return sum }
            try? await Task.sleep(for: .milliseconds(2))
        }
        giveUp()
        return nil
    }

    private func giveUp() {
        box.withLock {
            $0.phase = .expired
            $0.task?.cancel()
            $0.task = nil
        }
    }
}

@main
enum Simulation {
    static let broker = LeaseBroker(slots: 2)

    static func batch(_ names: [String], limit: Duration) async -> (sums: [Int], late: Int) {
        var clients: [LeaseClient] = []
        for name in names {
            let client = LeaseClient(name: name, size: 64 + name.count)
            client.begin(with: broker)
            clients.append(client)
        }
        var sums: [Int] = []
        var late = 0
        for client in clients {
            if let sum = await client.outcome(within: limit) {
                sums.append(sum)
            } else {
                late += 1
            }
        }
        return (sums, late)
    }

    static func main() async {
        let morning = await batch((1...20).map { "report-\($0)" }, limit: .seconds(1))
        print("morning: \(morning.sums.count) reports, digest \(morning.sums.reduce(0, ^))")

        let first = await broker.acquire()
        let second = await broker.acquire()
        print("maintenance holds slots \([first, second].sorted())")

        let noon = await batch(["audit", "export", "mirror", "reindex"], limit: .milliseconds(25))
        print("noon: \(noon.sums.count) reports, \(noon.late) late")
        print("requests seen: \(await broker.granted)")
    }
}
