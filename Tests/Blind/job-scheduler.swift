import Foundation

enum JobState: String {
    case waiting, running, done, failed, cancelled
}

struct Attempt {
    let number: Int
    let startedAt: Int
    let error: String?
}

struct TransientFailure: Error {
    let reason: String
}

final class Job: @unchecked Sendable {
    let id: Int
    let key: String
    let tenant: String
    let priority: Int
    let payload: [UInt32]
    var state = JobState.waiting
    var attempts: [Attempt] = []
    var notBefore = 0

    init(id: Int, key: String, tenant: String, priority: Int) {
        self.id = id
        self.key = key
        self.tenant = tenant
        self.priority = priority
        payload = (0..<96).map { UInt32(truncatingIfNeeded: ($0 &* 2_654_435_761) ^ id) }
    }
}

struct RetryPolicy {
    let limit: Int
    func delay(afterAttempt attempt: Int) -> Int { 1 << attempt }
}

struct Worker {
    let name: String

    func execute(_ job: Job) async throws -> UInt32 {
        await Task.yield()
        if job.id % 11 == 0 && job.attempts.count < 2 {
            throw TransientFailure(reason: "upstream busy")
        }
        if job.id % 97 == 3 {
            throw TransientFailure(reason: "bad payload")
        }
        return job.payload.reduce(0) { ($0 &* 31) &+ $1 }
    }
}

struct Totals {
    var submitted = 0
    var deduplicated = 0
    var completed = 0
    var exhausted = 0
    var cancelled = 0
    var retries = 0
    var checksum: UInt32 = 0
}

actor JobScheduler {
    private var queue: [Job] = []
    private var byID: [Int: Job] = [:]
    private var byKey: [String: Job] = [:]
    private var nextID = 1
    private var clock = 0
    private var totals = Totals()
    private var perTenant: [String: Int] = [:]
    private let policy = RetryPolicy(limit: 3)

    func submit(key: String, tenant: String, priority: Int) -> Int {
        if let existing = byKey[key] {
            totals.deduplicated += 1
            return existing.id
        }
        let job = Job(id: nextID, key: key, tenant: tenant, priority: priority)
        nextID += 1
        byID[job.id] = job
        byKey[key] = job
        insert(job)
        totals.submitted += 1
        return job.id
    }

    func cancel(id: Int) -> Bool {
        guard let job = byID[id], job.state == .waiting else { return false }
        job.state = .cancelled
        queue.removeAll { $0.id == id }
        byID[id] = nil
        totals.cancelled += 1
        return true
    }

    func advance(to tick: Int) { clock = tick }

    func next() -> Job? {
        guard let position = queue.firstIndex(where: { $0.notBefore <= clock }) else { return nil }
        let job = queue.remove(at: position)
        job.state = .running
        return job
    }

    func succeeded(_ job: Job, result: UInt32) {
        job.attempts.append(Attempt(number: job.attempts.count, startedAt: clock, error: nil))
        job.state = .done
        totals.completed += 1
        totals.checksum ^= result
        perTenant[job.tenant, default: 0] += 1
        retire(job)
    }

    func failed(_ job: Job, reason: String) {
        job.attempts.append(Attempt(number: job.attempts.count, startedAt: clock, error: reason))
        if job.attempts.count >= policy.limit {
            job.state = .failed
            totals.exhausted += 1
            retire(job)
        } else {
            job.state = .waiting
            job.notBefore = clock + policy.delay(afterAttempt: job.attempts.count)
            totals.retries += 1
            insert(job)
        }
    }

    private func retire(_ job: Job) {
        byID[job.id] = nil
        byKey[job.key] = nil
    }

    private func insert(_ job: Job) {
        let position = queue.firstIndex { $0.priority < job.priority } ?? queue.endIndex
        queue.insert(job, at: position)
    }

    var isIdle: Bool { byID.isEmpty }

    func report() -> String {
        let tenants = perTenant.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: " ")
        return "submitted=\(totals.submitted) dup=\(totals.deduplicated) done=\(totals.completed) failed=\(totals.exhausted) "
            + "cancelled=\(totals.cancelled) retries=\(totals.retries) sum=\(totals.checksum)\n\(tenants)"
    }
}

@main
struct SchedulerMain {
    static let scheduler = JobScheduler()
    static let tenants = ["acme", "globex", "initech", "umbrella"]

    static func drain(_ scheduler: JobScheduler, with workers: [Worker]) async {
        await withTaskGroup(of: Void.self) { group in
            for worker in workers {
                group.addTask {
                    while let job = await scheduler.next() {
                        do {
                            let result = try await worker.execute(job)
                            await scheduler.succeeded(job, result: result)
                        } catch let failure as TransientFailure {
                            await scheduler.failed(job, reason: failure.reason)
                        } catch {
                            await scheduler.failed(job, reason: "unknown")
                        }
                    }
                }
            }
        }
    }

    static func main() async throws {
        let workers = ["alpha", "beta", "gamma"].map(Worker.init(name:))
        var tick = 0

        for batch in 0..<50 {
            var revoked: [Int] = []
            for item in 0..<20 {
                let tenant = tenants[(batch + item) % tenants.count]
                let id = await scheduler.submit(
                    key: "\(tenant)/invoice-\(batch)-\(item)", tenant: tenant, priority: item % 5)
                if id % 8 == 5 { revoked.append(id) }
                if item % 10 == 9 {
                    _ = await scheduler.submit(
                        key: "\(tenant)/invoice-\(batch)-\(item)", tenant: tenant, priority: item % 5)
                }
            }
            for id in revoked where await !scheduler.cancel(id: id) {
                print("could not cancel \(id)")
            }
            tick += 1
            await scheduler.advance(to: tick)
            await drain(scheduler, with: workers)
            try await Task.sleep(nanoseconds: 12_000_000)
        }
        while await !scheduler.isIdle {
            tick += 1
            await scheduler.advance(to: tick)
            await drain(scheduler, with: workers)
        }
        print(await scheduler.report())
    }
}
