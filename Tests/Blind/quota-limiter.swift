import Foundation
import Dispatch

enum Verdict: Equatable {
    case allowed(remaining: Int)
    case throttled(retryAfter: Int)
    case banned(until: Int)
}

struct Plan {
    let name: String
    let capacity: Double
    let refillPerTick: Double
}

final class TokenBucket {
    let client: String
    let plan: Plan
    private(set) var tokens: Double
    private var updated: Int
    private(set) var granted = 0
    private(set) var refused = 0
    private var recent: [Int32]
    var newer: TokenBucket?
    var older: TokenBucket?

    init(client: String, plan: Plan, now: Int) {
        self.client = client
        self.plan = plan
        tokens = plan.capacity
        updated = now
        recent = [Int32](repeating: 0, count: 32)
    }

    func take(_ cost: Double, now: Int) -> Bool {
        tokens = min(plan.capacity, tokens + Double(now - updated) * plan.refillPerTick)
        updated = now
        recent[now % recent.count] += 1
        guard tokens >= cost else {
            refused += 1
            return false
        }
        tokens -= cost
        granted += 1
        return true
    }

    var activity: Int { recent.reduce(0) { $0 + Int($1) } }
}

final class BucketCache {
    private var byClient: [String: TokenBucket] = [:]
    private var newest: TokenBucket?
    private var oldest: TokenBucket?
    private let capacity: Int
    private(set) var evicted = 0
    private(set) var evictedGrants = 0

    init(capacity: Int) { self.capacity = capacity }

    func bucket(for client: String, make: () -> TokenBucket) -> TokenBucket {
        if let known = byClient[client] {
            unlink(known)
            pushFront(known)
            return known
        }
        let bucket = make()
        byClient[client] = bucket
        pushFront(bucket)
        if byClient.count > capacity, let victim = oldest {
            evicted += 1
            evictedGrants += victim.granted
            unlink(victim)
            byClient[victim.client] = nil
        }
        return bucket
    }

    private func pushFront(_ bucket: TokenBucket) {
        bucket.older = newest
        newest?.newer = bucket
        newest = bucket
        if oldest == nil { oldest = bucket }
    }

    private func unlink(_ bucket: TokenBucket) {
        bucket.newer?.older = bucket.older
        bucket.older?.newer = bucket.newer
        if newest === bucket { newest = bucket.older }
        if oldest === bucket { oldest = bucket.newer }
        bucket.newer = nil
        bucket.older = nil
    }

    func drain(_ visit: (TokenBucket) -> Void) {
        while let bucket = oldest {
            visit(bucket)
            unlink(bucket)
            byClient[bucket.client] = nil
        }
    }

    var count: Int { byClient.count }
}

final class Penalty {
    let client: String
    let until: Int
    private(set) var hits = 0
    init(client: String, until: Int) {
        self.client = client
        self.until = until
    }
    func hit() { hits += 1 }
}

final class PenaltyBox {
    private var active: [String: Penalty] = [:]
    private var strikes: [String: Int] = [:]
    private(set) var served = 0
    private(set) var blockedHits = 0

    func strike(_ client: String, now: Int) {
        strikes[client, default: 0] += 1
        guard strikes[client]! >= 6 else { return }
        strikes[client] = nil
        active[client] = Penalty(client: client, until: now + 5)
    }

    func check(_ client: String) -> Int? {
        guard let penalty = active[client] else { return nil }
        penalty.hit()
        return penalty.until
    }

    func expire(now: Int) {
        for penalty in active.values where penalty.until <= now {
            served += 1
            blockedHits += penalty.hits
            active[penalty.client] = nil
        }
        if now % 10 == 0 { strikes.removeAll() }
    }

    func pardonAll() -> Int {
        let pardoned = active.values.reduce(0) { $0 + 1 + $1.hits }
        active.removeAll()
        return pardoned
    }
}

final class QuotaLimiter {
    private let lock = NSLock()
    private let cache = BucketCache(capacity: 160)
    private let box = PenaltyBox()
    private let plans: [Plan]
    private var flushTimer: DispatchSourceTimer?
    private var counters: [String: Int] = [:]
    private var exported = 0

    init(plans: [Plan]) { self.plans = plans }

    func start(on queue: DispatchQueue) {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + .milliseconds(40), repeating: .milliseconds(40))
        timer.setEventHandler { self.flush() }
        timer.resume()
        flushTimer = timer
    }

    private func flush() {
        lock.withLock {
            exported += counters.values.reduce(0, +)
            counters.removeAll(keepingCapacity: true)
        }
    }

    func request(_ client: String, planIndex: Int, cost: Double, now: Int) -> Verdict {
        lock.withLock {
            counters[client.hasPrefix("crawler") ? "crawler" : "visitor", default: 0] += 1
            if let until = box.check(client) { return .banned(until: until) }
            let bucket = cache.bucket(for: client) {
                TokenBucket(client: client, plan: plans[planIndex % plans.count], now: now)
            }
            if bucket.take(cost, now: now) { return .allowed(remaining: Int(bucket.tokens)) }
            box.strike(client, now: now)
            return .throttled(retryAfter: Int((cost - bucket.tokens) / bucket.plan.refillPerTick) + 1)
        }
    }

    func endOfTick(_ now: Int) { lock.withLock { box.expire(now: now) } }

    func stop() -> String {
        flushTimer?.cancel()
        flushTimer = nil
        flush()
        return lock.withLock {
            var grants = 0, refusals = 0, activity = 0
            let kept = cache.count
            cache.drain { bucket in
                grants += bucket.granted
                refusals += bucket.refused
                activity += bucket.activity
            }
            return "kept=\(kept) grants=\(grants) refusals=\(refusals) activity=\(activity) evicted=\(cache.evicted)/\(cache.evictedGrants) "
                + "penalties=\(box.served)/\(box.blockedHits)/\(box.pardonAll()) exported=\(exported)"
        }
    }
}

let limiter = QuotaLimiter(plans: [
    Plan(name: "free", capacity: 4, refillPerTick: 0.5),
    Plan(name: "team", capacity: 12, refillPerTick: 2),
    Plan(name: "firm", capacity: 40, refillPerTick: 8),
])
limiter.start(on: DispatchQueue(label: "quota.flush"))
var tally: [String: Int] = [:]
for tick in 1...80 {
    for call in 0..<60 {
        let client: String
        switch call % 4 {
        case 0: client = "visitor-\(tick * 15 + call / 4)"
        case 1: client = "crawler-\(call % 3)"
        default: client = "member-\((tick * 7 + call) % 70)"
        }
        switch limiter.request(client, planIndex: client.utf8.count + call % 2, cost: call % 4 == 1 ? 2 : 1, now: tick) {
        case .allowed: tally["allowed", default: 0] += 1
        case .throttled: tally["throttled", default: 0] += 1
        case .banned: tally["banned", default: 0] += 1
        }
    }
    limiter.endOfTick(tick)
    usleep(9_000)
}
print(tally.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " "))
print(limiter.stop())
