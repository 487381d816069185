import Foundation

struct Decision {
    let allowed: Bool
    let retryAfter: Int
}

final class TokenBucket {
    let key: String
    let capacity: Double
    let refillPerTick: Double
    var tokens: Double
    var updatedAt: Int
    var blockedUntil: Int?

    init(key: String, capacity: Double, refillPerTick: Double, now: Int) {
        self.key = key
        self.capacity = capacity
        self.refillPerTick = refillPerTick
        self.tokens = capacity
        self.updatedAt = now
    }

    func refill(now: Int) {
        tokens = min(capacity, tokens + Double(now - updatedAt) * refillPerTick)
        updatedAt = now
    }
}

final class AccessEntry {
    let key: String
    let at: Int
    let allowed: Bool
    init(key: String, at: Int, allowed: Bool) {
        self.key = key
        self.at = at
        self.allowed = allowed
    }
}

final class RateLimiter {
    private var buckets: [String: TokenBucket] = [:]
    private var audit: [AccessEntry] = []
    private(set) var denied = 0

    func take(_ key: String, now: Int) -> Decision {
        let bucket = buckets[key] ?? TokenBucket(key: key, capacity: 10, refillPerTick: 0.5, now: now)
        buckets[key] = bucket
        if let until = bucket.blockedUntil {
            if now < until { return record(bucket, now, false, retry: until - now) }
            bucket.blockedUntil = nil
        }
        bucket.refill(now: now)
        guard bucket.tokens >= 1 else {
            bucket.blockedUntil = now + 60
            return record(bucket, now, false, retry: 60)
        }
        bucket.tokens -= 1
        return record(bucket, now, true, retry: 0)
    }

    func sweep(now: Int) {
        for (key, bucket) in buckets {
            if bucket.blockedUntil != nil { continue }
            bucket.refill(now: now)
            if bucket.tokens >= bucket.capacity { buckets.removeValue(forKey: key) }
        }
    }

    private func record(_ bucket: TokenBucket, _ now: Int, _ allowed: Bool, retry: Int) -> Decision {
        if !allowed { denied += 1 }
        audit.append(AccessEntry(key: bucket.key, at: now, allowed: allowed))
        if audit.count > 200 { audit.removeFirst(100) }
        return Decision(allowed: allowed, retryAfter: retry)
    }
}

let limiter = RateLimiter()
var tick = 0
var served = 0
for batch in 0..<40 {
    for n in 0..<50 {
        let visitor = batch * 50 + n
        let burst = visitor % 20 == 9 ? 12 : 2 + visitor % 4
        for _ in 0..<burst where limiter.take("10.0.\(visitor / 250).\(visitor % 250)", now: tick).allowed { served += 1 }
    }
    tick += 30
    limiter.sweep(now: tick)
    Thread.sleep(forTimeInterval: 0.03)
}
tick += 5_000
limiter.sweep(now: tick)
Thread.sleep(forTimeInterval: 0.2)
print("served \(served) denied \(limiter.denied)")
