import Foundation

extension Notification.Name {
    static let memoryPressure = Notification.Name("cache.memoryPressure")
}

final class CacheNode {
    let key: String
    var value: [UInt8]
    var next: CacheNode?
    weak var previous: CacheNode?

    init(key: String, value: [UInt8]) {
        self.key = key
        self.value = value
    }
}

final class RecentCache {
    private let limit: Int
    private var nodes: [String: CacheNode] = [:]
    private var head: CacheNode?
    private weak var tail: CacheNode?
    private var token: (any NSObjectProtocol)?
    private(set) var evictions = 0

    init(limit: Int) {
        self.limit = limit
        token = NotificationCenter.default.addObserver(
            forName: .memoryPressure, object: nil, queue: nil
        ) { [weak self] _ in
            self?.removeAll()
        }
    }

    deinit {
        if let token { NotificationCenter.default.removeObserver(token) }
    }

    var count: Int { nodes.count }

    func insert(_ value: [UInt8], for key: String) {
        if let node = nodes[key] {
            node.value = value
            return
        }
        let node = CacheNode(key: key, value: value)
        nodes[key] = node
        if let tail {
            tail.next = node
            node.previous = tail
        } else {
            head = node
        }
        tail = node
        while nodes.count > limit, let oldest = head {
            head = oldest.next
            oldest.next = nil
            nodes[oldest.key] = nil
            evictions += 1
        }
    }

    func value(for key: String) -> [UInt8]? { nodes[key]?.value }

    func removeAll() {
        nodes.removeAll()
        while let first = head {
            head = first.next
            first.next = nil
        }
    }
}

func renderAlbums(_ total: Int) -> (hits: Int, evictions: Int) {
    var hits = 0
    var evictions = 0
    for album in 0..<total {
        let cache = RecentCache(limit: 10)
        for photo in 0..<24 {
            cache.insert([UInt8](repeating: UInt8(photo), count: 256), for: "\(album)/\(photo % 16)")
            if cache.value(for: "\(album)/\(photo / 2)") != nil { hits += 1 }
        }
        if album % 8 == 0 { NotificationCenter.default.post(name: .memoryPressure, object: nil) }
        evictions += cache.evictions
        usleep(4_000)
    }
    return (hits, evictions)
}

let result = renderAlbums(100)
print("100 albums, \(result.hits) hits, \(result.evictions) evictions")
