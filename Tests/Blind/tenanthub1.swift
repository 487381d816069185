import Foundation

enum HubEvent: Sendable {
    case onboard(String)
    case job(String, Int)
    case offboard(String)
}

actor Invoicer {
    private(set) var jobs = 0
    private(set) var amount = 0
    private(set) var offboarded = 0

    func bill(_ cents: Int) {
        jobs += 1
        amount += cents
    }

    func noteOffboarding() {
        offboarded += 1
    }
}

final class TenantWorker: @unchecked Sendable {
    let tenant: String
    private let invoicer: Invoicer
    private let lock = NSLock()
    private var backlog: [Int] = []
    private var scratch = [UInt8](repeating: 0, count: 1024)

    init(tenant: String, invoicer: Invoicer) {
        self.tenant = tenant
        self.invoicer = invoicer
    }

    func enqueue(_ job: Int) {
        lock.withLock { backlog.append(job) }
    }

    func run() async {
        while !Task.isCancelled {
            for job in takeBacklog() {
                await invoicer.bill(process(job))
            }
            try? await Task.sleep(for: .milliseconds(30))
        }
    }

    private func takeBacklog() -> [Int] {
        lock.withLock {
            defer { backlog.removeAll() }
            return backlog
        }
    }

    private func process(_ job: Int) -> Int {
        for i in scratch.indices {
            scratch[i] = scratch[i] &+ UInt8(truncatingIfNeeded: i ^ job)
        }
        return scratch.reduce(0) { $0 + Int($1) } % 1_000
    }
}

struct Supervisor: Sendable {
    let invoicer: Invoicer

    func run(_ events: AsyncStream<HubEvent>) async {
        await withDiscardingTaskGroup { group in
            var workers: [String: TenantWorker] = [:]
            for await event in events {
                switch event {
                case .onboard(let tenant):
                    let worker = TenantWorker(tenant: tenant, invoicer: invoicer)
                    workers[tenant] = worker
                    group.addTask { await worker.run() }
                case .job(let tenant, let id):
                    workers[tenant]?.enqueue(id)
                case .offboard(let tenant):
                    workers[tenant] = nil
                    await invoicer.noteOffboarding()
                }
            }
            group.cancelAll()
        }
    }
}

@main
struct Hub {
    static func main() async throws {
        let invoicer = Invoicer()
        let (events, feed) = AsyncStream.makeStream(of: HubEvent.self)
        let supervisor = Supervisor(invoicer: invoicer)
        Task { await supervisor.run(events) }

        var expected = 0
        for quarter in 0..<3 {
            let tenants = (0..<11).map { "q\(quarter)-t\($0)" }
            for tenant in tenants {
                feed.yield(.onboard(tenant))
            }
            for id in 0..<220 {
                feed.yield(.job(tenants[id % 11], id))
                expected += 1
            }
            while await invoicer.jobs < expected {
                try await Task.sleep(for: .milliseconds(20))
            }
            try await Task.sleep(for: .milliseconds(150))
            for tenant in tenants {
                feed.yield(.offboard(tenant))
            }
        }
        while await invoicer.offboarded < 33 {
            try await Task.sleep(for: .milliseconds(10))
        }
        try await Task.sleep(for: .milliseconds(150))
        print("jobs \(await invoicer.jobs), amount \(await invoicer.amount), offboarded \(await invoicer.offboarded)")
        withExtendedLifetime(feed) {}
    }
}
