import Foundation

struct Job: Sendable {
    let id: Int
    let work: @Sendable () async -> Int
}

actor WorkerPool {
    static let shared = WorkerPool()
    private var idle: [CheckedContinuation<Job, Never>] = []
    private var backlog: [Job] = []
    private(set) var completed = 0
    private(set) var sum = 0

    func start(_ n: Int) {
        for number in 0..<n {
            let worker = Worker(number: number)
            Task { await worker.run() }
        }
    }

    func submit(_ job: Job) {
        if idle.isEmpty {
            backlog.append(job)
        } else {
            idle.removeFirst().resume(returning: job)
        }
    }

    func nextJob() async -> Job {
        if !backlog.isEmpty { return backlog.removeFirst() }
        return await withCheckedContinuation { idle.append($0) }
    }

    func done(_ result: Int) {
        completed += 1
        sum += result
    }
}

final class Worker: Sendable {
    let number: Int
    let scratch: [UInt8]
    init(number: Int) {
        self.number = number
        scratch = [UInt8](repeating: 0, count: 4096)
    }

    func run() async {
        while true {
            let job = await WorkerPool.shared.nextJob()
            let result = await job.work()
            await WorkerPool.shared.done(result)
        }
    }
}

@main
struct ImageService {
    static func main() async throws {
        let pool = WorkerPool.shared
        await pool.start(8)
        var id = 0
        for round in 0..<6 {
            for n in 0..<40 {
                id += 1
                await pool.submit(Job(id: id) {
                    try? await Task.sleep(for: .milliseconds(1))
                    return round + n
                })
            }
            while await pool.completed < id {
                try await Task.sleep(for: .milliseconds(5))
            }
            try await Task.sleep(for: .milliseconds(30))
        }
        print("jobs \(await pool.completed), sum \(await pool.sum)")
    }
}
