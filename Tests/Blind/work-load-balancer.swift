import Foundation

final class Request: Sendable {
    let id: Int
    let path: String
    let cost: Int
    init(id: Int, path: String, cost: Int) {
        self.id = id
        self.path = path
        self.cost = cost
    }
}

final class LatencyWindow {
    private var samples: [Int] = []
    private let limit: Int
    init(limit: Int) { self.limit = limit }

    func add(_ value: Int) {
        samples.append(value)
        if samples.count > limit { samples.removeFirst() }
    }

    var average: Int { samples.isEmpty ? 0 : samples.reduce(0, +) / samples.count }
}

actor Backend {
    nonisolated let name: String
    private var healthy = true
    private var inFlight = 0
    private var served = 0
    private var probes = 0
    private let window = LatencyWindow(limit: 32)

    init(name: String) { self.name = name }

    func handle(_ request: Request) async -> Int {
        inFlight += 1
        let started = DispatchTime.now().uptimeNanoseconds
        try? await Task.sleep(nanoseconds: UInt64(request.cost) * 100_000)
        window.add(Int((DispatchTime.now().uptimeNanoseconds - started) / 1_000))
        inFlight -= 1
        served += 1
        return request.cost
    }

    func probe() {
        probes += 1
        healthy = inFlight < 40
    }

    func load() -> Int { healthy ? inFlight : Int.max }
    func statistics() -> (served: Int, latency: Int) { (served, window.average) }
}

final class Member {
    let backend: Backend
    let checker: Task<Void, Never>
    init(backend: Backend) {
        self.backend = backend
        checker = Task {
            while !Task.isCancelled {
                await backend.probe()
                try? await Task.sleep(nanoseconds: 20_000_000)
            }
        }
    }
}

actor Pool {
    private var members: [Member] = []
    private var serial = 0
    private(set) var retired = 0
    private(set) var replaced = 0

    func grow() {
        serial += 1
        members.append(Member(backend: Backend(name: "node-\(serial)")))
    }

    func shrink() {
        guard members.count > 2, let member = members.popLast() else { return }
        member.checker.cancel()
        retired += 1
    }

    func replaceOldest() {
        guard !members.isEmpty else { return }
        members.removeFirst()
        replaced += 1
        grow()
    }

    func pick(_ hash: Int) async -> Backend? {
        guard !members.isEmpty else { return nil }
        let first = members[hash % members.count].backend
        let second = members[(hash / 7 + 1) % members.count].backend
        let a = await first.load()
        let b = await second.load()
        return a <= b ? first : second
    }

    func shutdown() {
        for member in members { member.checker.cancel() }
        members.removeAll()
    }

    func size() -> Int { members.count }

    func totals() async -> (served: Int, worst: Int) {
        var served = 0
        var worst = 0
        for member in members {
            let s = await member.backend.statistics()
            served += s.served
            worst = max(worst, s.latency)
        }
        return (served, worst)
    }
}

final class Autoscaler: Sendable {
    let pool: Pool
    init(pool: Pool) { self.pool = pool }

    func adjust(wave: Int, demand: Int) async {
        let size = await pool.size()
        if demand > size * 6 {
            await pool.grow()
        } else if demand < size * 3 {
            await pool.shrink()
        }
        if wave % 12 == 11 { await pool.replaceOldest() }
    }
}

func serve(_ requests: [Request], with pool: Pool) async -> Int {
    await withTaskGroup(of: Int.self) { group in
        for request in requests {
            group.addTask {
                guard let backend = await pool.pick(request.id) else { return 0 }
                return await backend.handle(request)
            }
        }
        return await group.reduce(0, +)
    }
}

func simulate() async {
    let pool = Pool()
    for _ in 0..<4 { await pool.grow() }
    let scaler = Autoscaler(pool: pool)
    var next = 0
    var work = 0
    for wave in 0..<110 {
        let demand = 12 + (wave % 30 < 15 ? 28 : 0) + wave % 5
        let requests = (0..<demand).map { i -> Request in
            next += 1
            return Request(id: next, path: "/item/\(next % 91)", cost: 20 + (i * wave) % 90)
        }
        work += await serve(requests, with: pool)
        await scaler.adjust(wave: wave, demand: demand)
        if wave % 50 == 49 {
            let totals = await pool.totals()
            print("wave \(wave): served \(totals.served), worst \(totals.worst)us")
        }
    }
    let retired = await pool.retired
    let replaced = await pool.replaced
    await pool.shutdown()
    print("work \(work), retired \(retired), replaced \(replaced)")
}

await simulate()
