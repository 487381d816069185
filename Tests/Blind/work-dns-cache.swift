import Foundation

enum RecordType { case a, mx, none }

final class Record {
    let name: String
    let type: RecordType
    let address: UInt32
    let expires: Int

    init(name: String, type: RecordType, address: UInt32, expires: Int) {
        self.name = name
        self.type = type
        self.address = address
        self.expires = expires
    }
}

final class Zone {
    let suffix: String
    let ttl: Int
    private let hosts: Int
    init(suffix: String, ttl: Int, hosts: Int) {
        self.suffix = suffix
        self.ttl = ttl
        self.hosts = hosts
    }

    func answer(_ host: Int) -> UInt32? {
        host < hosts ? UInt32(10 << 24) | UInt32(host) : nil
    }
}

struct Answer {
    let address: UInt32?
    let ttl: Int
}

final class Upstream {
    private let zones: [Zone]
    private(set) var queries = 0
    init(zones: [Zone]) { self.zones = zones }

    func ask(_ name: String) -> Answer {
        queries += 1
        let parts = name.split(separator: ".", maxSplits: 1)
        guard parts.count == 2, let zone = zones.first(where: { $0.suffix == parts[1] }),
              let host = Int(parts[0].dropFirst()), let address = zone.answer(host)
        else { return Answer(address: nil, ttl: 0) }
        return Answer(address: address, ttl: zone.ttl)
    }
}

final class DNSCache {
    private var table: [String: Record] = [:]
    private var wheel: [[String]]
    private var now = 0
    private(set) var hits = 0
    private(set) var expired = 0

    init(slots: Int) {
        wheel = Array(repeating: [], count: slots)
    }

    func find(_ name: String) -> Record? {
        guard let record = table[name] else { return nil }
        if record.expires != 0 && record.expires <= now {
            table[name] = nil
            return nil
        }
        hits += 1
        return record
    }

    func put(_ record: Record) {
        table[record.name] = record
        let delay = record.expires - now
        if delay > 0 {
            let slot = (now + min(delay, wheel.count - 1)) % wheel.count
            wheel[slot].append(record.name)
        }
    }

    func tick() {
        now += 1
        let slot = now % wheel.count
        let due = wheel[slot]
        wheel[slot] = []
        for name in due {
            guard let record = table[name] else { continue }
            if record.expires <= now {
                table[name] = nil
                expired += 1
            } else {
                wheel[(now + min(record.expires - now, wheel.count - 1)) % wheel.count].append(name)
            }
        }
    }

    var time: Int { now }
}

final class Resolver {
    private let cache = DNSCache(slots: 64)
    private let upstream: Upstream
    private(set) var failures = 0

    init(upstream: Upstream) { self.upstream = upstream }

    func resolve(_ name: String) -> UInt32? {
        if let record = cache.find(name) {
            if record.type == .none { failures += 1 }
            return record.type == .none ? nil : record.address
        }
        let answer = upstream.ask(name)
        if let address = answer.address {
            cache.put(Record(name: name, type: .a, address: address, expires: cache.time + answer.ttl))
            return address
        }
        failures += 1
        cache.put(Record(name: name, type: .none, address: 0, expires: answer.ttl))
        return nil
    }

    func secondPassed() { cache.tick() }

    var statistics: String {
        "hits \(cache.hits) expired \(cache.expired) upstream \(upstream.queries) failures \(failures)"
    }
}

final class Client {
    private let resolver: Resolver
    private var state: UInt64
    private var serial = 0
    private let tag: Int
    private(set) var checksum: UInt32 = 0

    init(resolver: Resolver, tag: Int) {
        self.resolver = resolver
        self.tag = tag
        state = UInt64(tag) &* 7_777_777 &+ 3
    }

    private func draw(_ n: Int) -> Int {
        state = state &* 6364136223846793005 &+ 1
        return Int((state >> 33) % UInt64(n))
    }

    func browse() {
        let zone = ["shop.example", "mail.example", "cdn.example"][draw(3)]
        if draw(9) == 0 {
            serial += 1
            _ = resolver.resolve("x\(tag)-\(serial).\(zone)")
        } else {
            checksum = checksum &+ (resolver.resolve("h\(draw(60)).\(zone)") ?? 0)
        }
    }
}

func office() {
    let zones = [Zone(suffix: "shop.example", ttl: 8, hosts: 60),
                 Zone(suffix: "mail.example", ttl: 30, hosts: 60),
                 Zone(suffix: "cdn.example", ttl: 90, hosts: 60)]
    let resolver = Resolver(upstream: Upstream(zones: zones))
    let clients = (1...10).map { Client(resolver: resolver, tag: $0) }
    for second in 0..<200 {
        for client in clients { client.browse() }
        resolver.secondPassed()
        usleep(9_000)
        if second % 100 == 99 { print(resolver.statistics) }
    }
    print(clients.reduce(0) { $0 &+ $1.checksum })
}

office()
