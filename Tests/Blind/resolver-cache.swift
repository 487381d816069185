import Foundation

final class DNSEntry {
    let host: String
    let addresses: [UInt32]
    let order: Int

    init(host: String, addresses: [UInt32], order: Int) {
        self.host = host
        self.addresses = addresses
        self.order = order
    }
}

protocol Upstream {
    func resolve(_ host: String) -> [UInt32]
}

final class StubUpstream: Upstream {
    private(set) var queries = 0
    func resolve(_ host: String) -> [UInt32] {
        queries += 1
        var hash: UInt32 = 2166136261
        for byte in host.utf8 { hash = (hash ^ UInt32(byte)) &* 16777619 }
        return [hash, hash &+ 1]
    }
}

final class Resolver {
    private let upstream: Upstream
    private let capacity = 100
    private var entries: [String: DNSEntry] = [:]
    private var order: [String] = []
    private var sequence = 0

    init(upstream: Upstream) { self.upstream = upstream }

    private func insert(_ host: String) -> DNSEntry {
        sequence += 1
        let entry = DNSEntry(host: host, addresses: upstream.resolve(host), order: sequence)
        entries[host] = entry
        order.append(host)
        return entry
    }

    func lookup(_ host: String) -> UInt32 {
        if let entry = entries[host] { return entry.addresses[0] }
        if entries.count == capacity {
            let oldest = order.removeFirst()
            entries.removeValue(forKey: oldest)
        }
        return insert(host).addresses[0]
    }

    func prefetch(_ hosts: [String]) {
        for host in hosts where entries[host] == nil {
            _ = insert(host)
        }
    }

    var count: Int { entries.count }
}

let upstream = StubUpstream()
let resolver = Resolver(upstream: upstream)

@main
struct Main {
    static func main() {
        var mix: UInt32 = 0
        for n in 0..<200 {
            mix ^= resolver.lookup("client-\(n).example.net")
        }
        // the configuration names a handful of hosts which must be warm
        resolver.prefetch((0..<40).map { "cdn-\($0).example.org" })
        for n in 200..<1400 {
            mix ^= resolver.lookup("client-\(n).example.net")
            mix ^= resolver.lookup("cdn-\(n % 40).example.org")
        }
        print("queries \(upstream.queries) cached \(resolver.count) mix \(mix)")
    }
}
