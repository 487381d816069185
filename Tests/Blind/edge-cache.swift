import Foundation

// Caching proxy: responses are stored with a time to live and a byte budget,
// the least recently used entry goes first. The origin is simulated.

final class CachedResponse {
    let url: String
    let body: [UInt8]
    let etag: String
    var fresh: Int
    var next: CachedResponse?
    unowned(unsafe) var previous: CachedResponse?

    init(url: String, body: [UInt8], etag: String, fresh: Int) {
        self.url = url
        self.body = body
        self.etag = etag
        self.fresh = fresh
    }
}

/// Recency list, most recent first.
struct RecencyList {
    private(set) var head: CachedResponse?
    private(set) var tail: CachedResponse?

    mutating func insert(_ entry: CachedResponse) {
        entry.previous = nil
        entry.next = head
        head?.previous = entry
        head = entry
        if tail == nil { tail = entry }
    }

    mutating func remove(_ entry: CachedResponse) {
        let next = entry.next
        let previous = entry.previous
        if let previous { previous.next = next } else { head = next }
        if let next { next.previous = previous } else { tail = previous }
        entry.next = nil
        entry.previous = nil
    }

    mutating func touch(_ entry: CachedResponse) {
        guard head !== entry else { return }
        remove(entry)
        insert(entry)
    }
}

final class Origin {
    private(set) var fetches = 0
    private(set) var revalidations = 0
    private var generation: [String: Int] = [:]

    func fetch(_ url: String) -> (body: [UInt8], etag: String) {
        fetches += 1
        let version = generation[url, default: 1]
        let size = 200 + abs(stableHash(url)) % 1_800
        var body = [UInt8](repeating: 0, count: size)
        var value = UInt32(truncatingIfNeeded: stableHash(url) &+ version)
        for index in body.indices {
            value = value &* 1_103_515_245 &+ 12_345
            body[index] = UInt8(truncatingIfNeeded: value >> 16)
        }
        return (body, "\"\(url.utf8.count)-\(version)\"")
    }

    func unchanged(_ url: String, etag: String) -> Bool {
        revalidations += 1
        return etag == "\"\(url.utf8.count)-\(generation[url, default: 1])\""
    }

    func publish(_ url: String) { generation[url, default: 1] += 1 }

    private func stableHash(_ text: String) -> Int {
        text.utf8.reduce(5381) { ($0 &* 33 &+ Int($1)) & 0xffff_ffff }
    }
}

final class EdgeCache {
    struct Statistics {
        var hits = 0, misses = 0, revalidated = 0, evicted = 0, purged = 0
    }
    private var entries: [String: CachedResponse] = [:]
    private var recency = RecencyList()
    private let budget: Int
    private let lifetime: Int
    private let origin: Origin
    private(set) var bytes = 0
    private(set) var statistics = Statistics()

    init(origin: Origin, budget: Int, lifetime: Int) {
        self.origin = origin
        self.budget = budget
        self.lifetime = lifetime
    }

    func get(_ url: String, now: Int) -> CachedResponse {
        if let entry = entries[url] {
            if entry.fresh > now {
                statistics.hits += 1
                recency.touch(entry)
                return entry
            }
            if origin.unchanged(url, etag: entry.etag) {
                statistics.revalidated += 1
                entry.fresh = now + lifetime
                recency.touch(entry)
                return entry
            }
            drop(entry)
        }
        statistics.misses += 1
        let (body, etag) = origin.fetch(url)
        let entry = CachedResponse(url: url, body: body, etag: etag, fresh: now + lifetime)
        entries[url] = entry
        recency.insert(entry)
        bytes += body.count
        while bytes > budget, let oldest = recency.tail, oldest !== entry {
            drop(oldest)
            statistics.evicted += 1
        }
        return entry
    }

    func purge(prefix: String) {
        for entry in entries.values where entry.url.hasPrefix(prefix) {
            drop(entry)
            statistics.purged += 1
        }
    }

    private func drop(_ entry: CachedResponse) {
        entries[entry.url] = nil
        recency.remove(entry)
        bytes -= entry.body.count
    }

    func clear() {
        while let entry = recency.tail { drop(entry) }
    }

    var count: Int { entries.count }
}

/// Popularity is skewed: the product of two uniform numbers favours low ranks.
struct Traffic {
    private var seed: UInt64 = 314_159
    mutating func unit() -> Double {
        seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Double(seed >> 40) / Double(1 << 24)
    }
    mutating func url() -> String {
        let rank = Int(unit() * unit() * unit() * 6_000)
        return "/\(["img", "css", "api", "doc"][rank & 3])/\(rank)"
    }
}

let origin = Origin()
let cache = EdgeCache(origin: origin, budget: 800_000, lifetime: 900)
var traffic = Traffic()
var served = 0
var checksum: UInt64 = 0
for now in 0..<230_000 {
    let url = traffic.url()
    let response = cache.get(url, now: now / 10)
    served += response.body.count
    checksum = checksum &* 31 &+ UInt64(response.body[now % response.body.count])
    if now % 1_000 == 999 { usleep(700) }
    if now % 97 == 0 { origin.publish(traffic.url()) }
    if now % 60_000 == 59_999 { cache.purge(prefix: "/css/1") }
}
let s = cache.statistics
print("hits \(s.hits), misses \(s.misses), revalidated \(s.revalidated), evicted \(s.evicted), purged \(s.purged)")
print("cached \(cache.count) objects, \(cache.bytes) bytes, served \(served) bytes, check \(checksum)")
cache.clear()
