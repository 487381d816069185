// Caching stub resolver with a simulated clock.
import Foundation

final class DNSAnswer {
    let host: String
    let addresses: [String]
    let expiresAt: Int

    init(host: String, addresses: [String], expiresAt: Int) {
        self.host = host
        self.addresses = addresses
        self.expiresAt = expiresAt
    }
}

protocol Upstream {
    func query(_ host: String) -> (addresses: [String], ttl: Int)
}

struct ZoneFile: Upstream {
    let pinned: [String: Int]

    func query(_ host: String) -> (addresses: [String], ttl: Int) {
        var hash: UInt32 = 2166136261
        for byte in host.utf8 { hash = (hash ^ UInt32(byte)) &* 16777619 }
        let first = "10.\(hash >> 24 & 255).\(hash >> 16 & 255).\(hash >> 8 & 255)"
        let second = "10.\(hash & 255).\(hash >> 12 & 255).7"
        return ([first, second], pinned[host] ?? 30 + Int(hash % 20))
    }
}

final class Resolver {
    private let upstream: Upstream
    private var answers: [String: DNSAnswer] = [:]
    private var arrival: [DNSAnswer] = []
    private(set) var upstreamQueries = 0
    private(set) var cacheHits = 0
    private(set) var expired = 0

    init(upstream: Upstream) { self.upstream = upstream }

    func resolve(_ host: String, now: Int) -> [String] {
        sweep(now: now)
        if let answer = answers[host], answer.expiresAt > now {
            cacheHits += 1
            return answer.addresses
        }
        upstreamQueries += 1
        let reply = upstream.query(host)
        let answer = DNSAnswer(host: host, addresses: reply.addresses, expiresAt: now + reply.ttl)
        answers[host] = answer
        arrival.append(answer)
        return answer.addresses
    }

    private func sweep(now: Int) {
        var gone = 0
        while gone < arrival.count, arrival[gone].expiresAt <= now {
            let old = arrival[gone]
            if answers[old.host] === old { answers[old.host] = nil }
            gone += 1
        }
        if gone > 0 {
            arrival.removeFirst(gone)
            expired += gone
        }
    }
}

let resolver = Resolver(upstream: ZoneFile(pinned: ["ns1.infra.example": 86_400]))
var clock = 0
var seen: Set<String> = []

_ = resolver.resolve("ns1.infra.example", now: clock)
for customer in 0..<900 {
    clock += 3
    let host = "shop\(customer).tenants.example"
    for _ in 0..<2 {
        for address in resolver.resolve(host, now: clock) { seen.insert(address) }
        clock += 1
    }
    if customer % 25 == 0 {
        _ = resolver.resolve("ns1.infra.example", now: clock)
        usleep(3000)
    }
}

print("simulated seconds: \(clock)")
print("upstream queries: \(resolver.upstreamQueries), cache hits: \(resolver.cacheHits)")
print("swept: \(resolver.expired), distinct addresses: \(seen.count)")
