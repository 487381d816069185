import Foundation

struct BuildJob: Sendable {
    let target: String
    let files: Int
}

final class Dispatcher: @unchecked Sendable {
    private let lock = NSLock()
    private var queue: [BuildJob] = []
    private var roster: [Int] = []
    private var idle: [Int: CheckedContinuation<BuildJob?, Never>] = [:]
    private var compiled = 0

    func enlist(_ id: Int) { lock.withLock { roster.append(id) } }

    func next(for id: Int) async -> BuildJob? {
        await withCheckedContinuation { continuation in
            let job: BuildJob? = lock.withLock {
                if !queue.isEmpty, roster.contains(id) { return queue.removeFirst() }
                idle[id] = continuation
                return nil
            }
            if let job { continuation.resume(returning: job) }
        }
    }

    func submit(_ job: BuildJob) {
        let waiter: CheckedContinuation<BuildJob?, Never>? = lock.withLock {
            for id in roster {
                if let waiter = idle.removeValue(forKey: id) { return waiter }
            }
            queue.append(job)
            return nil
        }
        waiter?.resume(returning: job)
    }

    func retire(_ id: Int) -> Bool {
        let waiter: CheckedContinuation<BuildJob?, Never>? = lock.withLock {
            guard let waiter = idle.removeValue(forKey: id) else { return nil }
            roster.removeAll { $0 == id }
            return waiter
        }
        waiter?.resume(returning: nil)
        return waiter != nil
    }

    func strike(_ ids: [Int]) { lock.withLock { roster.removeAll { ids.contains($0) } } }
    func done(_ job: BuildJob) { lock.withLock { compiled += job.files } }

    var isQuiet: Bool { lock.withLock { queue.isEmpty && roster.allSatisfy { idle[$0] != nil } } }
    var total: Int { lock.withLock { compiled } }
}

final class BuildWorker: @unchecked Sendable {
    let id: Int
    private let dispatcher: Dispatcher
    private var log: [String] = []

    init(id: Int, dispatcher: Dispatcher) {
        self.id = id
        self.dispatcher = dispatcher
    }

    func work() async {
        dispatcher.enlist(id)
        while let job = await dispatcher.next(for: id) {
            log.append("\(job.target): \(job.files) files")
            if log.count > 20 { log.removeFirst(10) }
            dispatcher.done(job)
        }
    }
}

actor Farm {
    let dispatcher = Dispatcher()
    private var workers: [Int: BuildWorker] = [:]
    private var loops: [Int: Task<Void, Never>] = [:]

    func hire(_ ids: ClosedRange<Int>) {
        for id in ids {
            let worker = BuildWorker(id: id, dispatcher: dispatcher)
            workers[id] = worker
            loops[id] = Task {
                await worker.work()
            }
        }
    }

    func release(_ ids: ClosedRange<Int>) async {
        for id in ids where workers[id] != nil {
            while !dispatcher.retire(id) { await Task.yield() }
            workers[id] = nil
            await loops.removeValue(forKey: id)?.value
        }
    }

    func rebalance(to size: Int) {
        let surplus = workers.keys.sorted().dropFirst(size)
        dispatcher.strike(Array(surplus))
        for id in surplus { workers[id] = nil }
    }

    var staff: [Int] { workers.keys.sorted() }
}

@main
enum BuildFarm {
    static let farm = Farm()

    static func round(_ number: Int, jobs: Int) async throws {
        for n in 0..<jobs {
            farm.dispatcher.submit(BuildJob(target: "lib\(number)-\(n)", files: 3 + (n * number) % 11))
        }
        repeat { try await Task.sleep(for: .milliseconds(8)) } while !farm.dispatcher.isQuiet
    }

    static func main() async throws {
        await farm.hire(1...12)
        for n in 1...5 { try await round(n, jobs: 30) }
        await farm.release(4...12)
        await farm.hire(20...25)
        for n in 6...10 { try await round(n, jobs: 24) }
        await farm.rebalance(to: 3)
        for n in 11...40 { try await round(n, jobs: 9) }
        print("compiled \(farm.dispatcher.total) files, staff \(await farm.staff)")
    }
}
