import Foundation

final class Request {
    let host: String
    let path: String
    let client: Int
    init(host: String, path: String, client: Int) {
        self.host = host
        self.path = path
        self.client = client
    }
    var key: String { host + path }
}

final class Response {
    let status: Int
    let body: String
    let storedAt: Int
    let lifetime: Int
    init(status: Int, body: String, storedAt: Int, lifetime: Int) {
        self.status = status
        self.body = body
        self.storedAt = storedAt
        self.lifetime = lifetime
    }
    func isFresh(at tick: Int) -> Bool { tick - storedAt < lifetime }
}

final class CacheNode {
    let key: String
    var response: Response
    var next: CacheNode?
    weak var previous: CacheNode?
    init(key: String, response: Response) {
        self.key = key
        self.response = response
    }
}

final class LRUCache {
    private var table: [String: CacheNode] = [:]
    private var head: CacheNode?
    private weak var tail: CacheNode?
    private let capacity: Int
    private(set) var evictions = 0

    init(capacity: Int) { self.capacity = capacity }

    private func unlink(_ node: CacheNode) {
        let next = node.next
        next?.previous = node.previous
        if let previous = node.previous { previous.next = next } else { head = next }
        if tail === node { tail = node.previous }
        node.next = nil
        node.previous = nil
    }

    private func pushFront(_ node: CacheNode) {
        node.next = head
        head?.previous = node
        head = node
        if tail == nil { tail = node }
    }

    func get(_ key: String, tick: Int) -> Response? {
        guard let node = table[key] else { return nil }
        unlink(node)
        guard node.response.isFresh(at: tick) else {
            table[key] = nil
            return nil
        }
        pushFront(node)
        return node.response
    }

    func put(_ key: String, _ response: Response) {
        if let node = table[key] {
            node.response = response
            unlink(node)
            pushFront(node)
            return
        }
        if table.count >= capacity, let last = tail {
            unlink(last)
            table[last.key] = nil
            evictions += 1
        }
        let node = CacheNode(key: key, response: response)
        table[key] = node
        pushFront(node)
    }

    var count: Int { table.count }
}

final class Connection {
    let host: String
    let serial: Int
    var requests = 0
    init(host: String, serial: Int) {
        self.host = host
        self.serial = serial
    }
    func fetch(_ request: Request, tick: Int) -> Response {
        requests += 1
        let status = request.path.hasSuffix("13") ? 404 : 200
        return Response(status: status, body: String(repeating: request.path, count: 4), storedAt: tick, lifetime: 30 + request.path.count * 12)
    }
}

final class ConnectionPool {
    private var idle: [String: [Connection]] = [:]
    private var serial = 0
    private(set) var opened = 0
    private let maximumIdle: Int
    private let maximumRequests: Int
    init(maximumIdle: Int, maximumRequests: Int) {
        self.maximumIdle = maximumIdle
        self.maximumRequests = maximumRequests
    }
    func take(_ host: String) -> Connection {
        if let connection = idle[host]?.popLast() { return connection }
        serial += 1
        opened += 1
        return Connection(host: host, serial: serial)
    }
    func giveBack(_ connection: Connection) {
        guard connection.requests < maximumRequests, (idle[connection.host]?.count ?? 0) < maximumIdle else { return }
        idle[connection.host, default: []].append(connection)
    }
}

final class Proxy {
    private let cache = LRUCache(capacity: 120)
    private let pool = ConnectionPool(maximumIdle: 3, maximumRequests: 25)
    private var hits = 0
    private var misses = 0
    private var missing: Set<String> = []

    func handle(_ request: Request, tick: Int) -> Response {
        if let response = cache.get(request.key, tick: tick) {
            hits += 1
            return response
        }
        misses += 1
        let connection = pool.take(request.host)
        defer { pool.giveBack(connection) }
        let response = connection.fetch(request, tick: tick)
        if response.status == 200 { cache.put(request.key, response) } else { missing.insert(request.host) }
        return response
    }

    func log() {
        print("hits \(hits), misses \(misses), cached \(cache.count), evicted \(cache.evictions), opened \(pool.opened), hosts with 404: \(missing.count)")
    }
}

func serve() {
    let proxy = Proxy()
    let hosts = ["a.example", "b.example", "cdn.example", "img.example"]
    var state: UInt32 = 2_463_534_242
    var bytes = 0
    for tick in 0..<900 {
        for client in 0..<3 {
            state ^= state << 13
            state ^= state >> 17
            state ^= state << 5
            let popular = state % 3 != 0
            let page = popular ? Int(state >> 8) % 40 : Int(state >> 8) % 700
            let request = Request(host: hosts[Int(state >> 4) % hosts.count], path: "/page/\(page)", client: client)
            bytes += proxy.handle(request, tick: tick).body.utf8.count
        }
        usleep(2000)
    }
    proxy.log()
    print("bytes \(bytes)")
}

serve()
