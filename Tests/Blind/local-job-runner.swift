import Foundation

enum Outcome: String { case ok, failed, withdrawn }

final class Job: @unchecked Sendable {
    let id: Int
    let payload: [Int]
    var attempts = 0
    init(id: Int, size: Int) {
        self.id = id
        payload = (0..<size).map { ($0 * 31 + id) % 977 }
    }

    func execute() throws -> Int {
        attempts += 1
        if id % 11 == 0 && attempts == 1 { throw JobError.transient }
        if id % 53 == 0 { throw JobError.broken }
        return payload.reduce(0) { ($0 &* 17 &+ $1) & 0xffff }
    }
}

enum JobError: Error { case transient, broken }

actor Gate {
    private struct Waiter {
        let id: Int
        let continuation: UnsafeContinuation<Bool, Never>
    }

    private var free: Int
    private var waiting: [Waiter] = []
    private var closed = false

    init(slots: Int) { free = slots }

    func enter(_ id: Int) async -> Bool {
        if closed { return false }
        if free > 0 {
            free -= 1
            return true
        }
        return await withUnsafeContinuation { c in
            waiting.append(Waiter(id: id, continuation: c))
        }
    }

    func leave() {
        if waiting.isEmpty {
            free += 1
        } else {
            waiting.removeFirst().continuation.resume(returning: true)
        }
    }

    func withdraw(_ id: Int) -> Bool {
        guard let i = waiting.firstIndex(where: { $0.id == id }) else { return false }
        waiting.remove(at: i)
        return true
    }

    func close() {
        closed = true
        for w in waiting { w.continuation.resume(returning: false) }
        waiting.removeAll()
    }

    var queueLength: Int { waiting.count }
}

actor Statistics {
    private var counts: [Outcome: Int] = [:]
    private var checksum = 0
    private var maxQueue = 0

    func note(_ o: Outcome) { counts[o, default: 0] += 1 }
    func value(_ v: Int) { checksum = (checksum + v) & 0xffffff }
    func queue(_ n: Int) { maxQueue = max(maxQueue, n) }
    func finished() -> Int { counts.values.reduce(0, +) }
    func line() -> String {
        let parts = counts.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key.rawValue) \($0.value)" }
        return parts.joined(separator: ", ") + ", longest queue \(maxQueue), checksum \(checksum)"
    }
}

actor Runner {
    private let gate: Gate
    private let statistics: Statistics

    init(slots: Int, statistics: Statistics) {
        gate = Gate(slots: slots)
        self.statistics = statistics
    }

    func submit(_ id: Int) {
        let gate = self.gate
        let statistics = self.statistics
        Task {
            let job = Job(id: id, size: 20 + id % 30)
            guard await gate.enter(id) else {
                await statistics.note(.withdrawn)
                return
            }
            await Runner.perform(job, statistics)
            await gate.leave()
        }
    }

    private static func perform(_ job: Job, _ statistics: Statistics) async {
        for _ in 0..<3 {
            do {
                try await Task.sleep(nanoseconds: 8_000_000)
                await statistics.value(try job.execute())
                await statistics.note(.ok)
                return
            } catch JobError.transient {
                continue
            } catch {
                break
            }
        }
        await statistics.note(.failed)
    }

    func withdraw(_ id: Int) async {
        if await gate.withdraw(id) {
            await statistics.note(.withdrawn)
        }
    }

    func observe() async {
        await statistics.queue(await gate.queueLength)
    }

    func shutdown() async { await gate.close() }
}

func main() async {
    let statistics = Statistics()
    let runner = Runner(slots: 6, statistics: statistics)
    let total = 900
    for id in 1...total {
        await runner.submit(id)
        if id % 3 == 0 { try? await Task.sleep(nanoseconds: 3_500_000) }
        if id % 20 == 0 {
            await runner.observe()
            await runner.withdraw(id - 1)
        }
    }
    while await statistics.finished() < total {
        try? await Task.sleep(nanoseconds: 20_000_000)
    }
    await runner.shutdown()
    print(await statistics.line())
}

await main()
