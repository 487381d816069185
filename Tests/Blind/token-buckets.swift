import Foundation

// API gateway with per-client rate limits: token buckets for bursts, sliding
// windows for daily quotas, and a penalty box for repeat offenders.

final class TokenBucket {
    private let capacity: Double
    private let refill: Double
    private var tokens: Double
    private(set) var lastUsed: Double

    init(capacity: Double, refill: Double, now: Double) {
        self.capacity = capacity
        self.refill = refill
        tokens = capacity
        lastUsed = now
    }

    func take(_ cost: Double, now: Double) -> Bool {
        tokens = min(capacity, tokens + (now - lastUsed) * refill)
        lastUsed = now
        guard tokens >= cost else { return false }
        tokens -= cost
        return true
    }
}

final class SlidingWindow {
    private final class Slot {
        let index: Int
        var count = 0
        init(index: Int) { self.index = index }
    }
    private var slots: [Slot] = []
    private let width: Double
    private let length: Int
    private var total = 0

    init(width: Double, length: Int) {
        self.width = width
        self.length = length
    }

    func add(now: Double) -> Int {
        let index = Int(now / width)
        while let first = slots.first, first.index <= index - length {
            total -= first.count
            slots.removeFirst()
        }
        if slots.last?.index != index { slots.append(Slot(index: index)) }
        slots[slots.count - 1].count += 1
        total += 1
        return total
    }
}

final class ClientState {
    let key: String
    let bucket: TokenBucket
    let window = SlidingWindow(width: 10, length: 30)
    var strikes = 0
    var bannedUntil = 0.0

    init(key: String, tier: Tier, now: Double) {
        self.key = key
        bucket = TokenBucket(capacity: tier.burst, refill: tier.rate, now: now)
    }
}

enum Tier: Int, CaseIterable {
    case free, basic, pro
    var burst: Double { [5, 15, 60][rawValue] }
    var rate: Double { [0.5, 2, 10][rawValue] }
    var quota: Int { [40, 300, 3_000][rawValue] }
}

enum Verdict: Hashable { case allowed, throttled, overQuota, banned }

final class Limiter {
    private var clients: [String: ClientState] = [:]
    private let idleLimit: Double
    private(set) var forgotten = 0
    private(set) var peak = 0
    var onBan: ((String, Double) -> Void)?

    init(idleLimit: Double) { self.idleLimit = idleLimit }

    func check(key: String, tier: Tier, cost: Double, now: Double) -> Verdict {
        let client: ClientState
        if let known = clients[key] {
            client = known
        } else {
            client = ClientState(key: key, tier: tier, now: now)
            clients[key] = client
            peak = max(peak, clients.count)
        }
        if client.bannedUntil > now { return .banned }
        guard client.bucket.take(cost, now: now) else {
            client.strikes += 1
            if client.strikes >= 10 {
                client.strikes = 0
                client.bannedUntil = now + 60
                onBan?(key, client.bannedUntil)
            }
            return .throttled
        }
        return client.window.add(now: now) > tier.quota ? .overQuota : .allowed
    }

    func collectIdle(now: Double) {
        let before = clients.count
        clients = clients.filter { now - $0.value.bucket.lastUsed < idleLimit }
        forgotten += before - clients.count
    }

    var count: Int { clients.count }
}

final class Gateway {
    private let limiter: Limiter
    private(set) var verdicts: [Verdict: Int] = [:]
    private var bans: [String] = []
    private let banLogLimit = 500

    init(limiter: Limiter) {
        self.limiter = limiter
        limiter.onBan = { [unowned self] key, until in
            bans.append("\(key) until \(Int(until))")
            if bans.count > banLogLimit { bans.removeFirst(bans.count - banLogLimit) }
        }
    }

    func handle(key: String, path: String, now: Double) {
        let tier = Tier(rawValue: key.utf8.reduce(0) { $0 + Int($1) } % 3)!
        let cost: Double = path.hasPrefix("/export") ? 4 : 1
        let verdict = limiter.check(key: key, tier: tier, cost: cost, now: now)
        verdicts[verdict, default: 0] += 1
    }

    func housekeeping(now: Double) { limiter.collectIdle(now: now) }
    var recentBans: ArraySlice<String> { bans.suffix(3) }
    var banLog: Int { bans.count }
}

struct LoadGenerator {
    private var seed: UInt64 = 20_240_601
    private var population = 400

    mutating func next(_ bound: Int) -> Int {
        seed = seed &* 3_202_034_522_624_059_733 &+ 1
        return Int((seed >> 35) % UInt64(bound))
    }

    /// Clients come and go: the active key range drifts with time.
    mutating func key(now: Double) -> String {
        let base = Int(now / 8)
        return next(10) < 3 ? "corp-\(next(20))" : "ip-\(base + next(population))"
    }
}

let limiter = Limiter(idleLimit: 240)
let gateway = Gateway(limiter: limiter)
var load = LoadGenerator()
var now = 0.0
let paths = ["/search", "/items", "/export/csv", "/login"]
for step in 0..<880_000 {
    now += 0.02
    gateway.handle(key: load.key(now: now), path: paths[load.next(paths.count)], now: now)
    if step % 3_000 == 2_999 {
        gateway.housekeeping(now: now)
        usleep(400)
    }
}
for (name, verdict) in [("allowed", Verdict.allowed), ("throttled", .throttled), ("over quota", .overQuota), ("banned", .banned)] {
    print("\(name): \(gateway.verdicts[verdict] ?? 0)")
}
print("tracked \(limiter.count), peak \(limiter.peak), forgotten \(limiter.forgotten), ban log \(gateway.banLog)")
print(gateway.recentBans.joined(separator: "; "))
