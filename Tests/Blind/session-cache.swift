import Foundation

final class Session {
    let token: String
    let user: Int
    var hits = 0
    init(token: String, user: Int) {
        self.token = token
        self.user = user
    }
}

final class CacheNode {
    let key: String
    let session: Session
    var newer: CacheNode?
    var older: CacheNode?
    init(key: String, session: Session) {
        self.key = key
        self.session = session
    }
}

final class RecencyList {
    private var newest: CacheNode?
    private var oldest: CacheNode?
    private(set) var count = 0

    func pushFront(_ node: CacheNode) {
        node.older = newest
        newest?.newer = node
        newest = node
        if oldest == nil { oldest = node }
        count += 1
    }

    func unlink(_ node: CacheNode) {
        if let newer = node.newer { newer.older = node.older } else { newest = node.older }
        if let older = node.older { older.newer = node.newer } else { oldest = node.newer }
        node.newer = nil
        node.older = nil
        count -= 1
    }

    func popOldest() -> CacheNode? {
        guard let node = oldest else { return nil }
        unlink(node)
        return node
    }

    func removeAll() {
        newest = nil
        oldest = nil
        count = 0
    }
}

final class SessionCache {
    private var index: [String: CacheNode] = [:]
    private let order = RecencyList()
    private let capacity: Int
    private(set) var evictions = 0

    init(capacity: Int) { self.capacity = capacity }

    func session(for token: String, create: () -> Session) -> Session {
        if let node = index[token] {
            order.unlink(node)
            order.pushFront(node)
            node.session.hits += 1
            return node.session
        }
        let node = CacheNode(key: token, session: create())
        index[token] = node
        order.pushFront(node)
        if order.count > capacity, let old = order.popOldest() {
            index[old.key] = nil
            evictions += 1
        }
        return node.session
    }

    func logOut(_ token: String) {
        guard let node = index.removeValue(forKey: token) else { return }
        order.unlink(node)
    }

    func flush() {
        index.removeAll()
        order.removeAll()
    }

    var count: Int { index.count }
}

final class Gateway {
    let cache = SessionCache(capacity: 80)
    private(set) var requests = 0
    private(set) var hits = 0

    func rotateKeys() { cache.flush() }

    func request(epoch: Int, user: Int) {
        requests += 1
        let session = cache.session(for: "e\(epoch)-u\(user)") { Session(token: "e\(epoch)-u\(user)", user: user) }
        hits += session.hits > 0 ? 1 : 0
    }
}

let gateway = Gateway()
for epoch in 0..<30 {
    for user in 0..<100 {
        gateway.request(epoch: epoch, user: user)
        if user >= 3 { gateway.request(epoch: epoch, user: user - user % 3) }
        if user % 25 == 24 { gateway.cache.logOut("e\(epoch)-u\(user)") }
        usleep(400)
    }
    gateway.rotateKeys()
}
print("requests \(gateway.requests), repeated \(gateway.hits)")
print("evictions \(gateway.cache.evictions), cached \(gateway.cache.count)")
