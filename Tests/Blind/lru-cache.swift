import Foundation

final class Picture {
    let name: String
    let pixels: [UInt8]
    init(name: String) {
        self.name = name
        self.pixels = [UInt8](repeating: 9, count: 1_500)
    }
}

final class CacheNode {
    let key: String
    var value: Picture
    var next: CacheNode?
    var previous: CacheNode?
    init(key: String, value: Picture) {
        self.key = key
        self.value = value
    }
}

final class RecencyCache {
    private var nodes: [String: CacheNode] = [:]
    private var head: CacheNode?
    private var tail: CacheNode?
    private let capacity: Int
    private(set) var hits = 0

    init(capacity: Int) { self.capacity = capacity }

    func picture(_ key: String) -> Picture {
        if let node = nodes[key] {
            hits += 1
            unlink(node)
            pushFront(node)
            return node.value
        }
        let node = CacheNode(key: key, value: Picture(name: key))
        nodes[key] = node
        pushFront(node)
        while nodes.count > capacity, let last = tail {
            unlink(last)
            nodes.removeValue(forKey: last.key)
        }
        return node.value
    }

    func removeAll() {
        nodes.removeAll()
        head = nil
        tail = nil
    }

    private func pushFront(_ node: CacheNode) {
        node.next = head
        head?.previous = node
        head = node
        if tail == nil { tail = node }
    }

    private func unlink(_ node: CacheNode) {
        node.previous?.next = node.next
        node.next?.previous = node.previous
        if head === node { head = node.next }
        if tail === node { tail = node.previous }
        node.next = nil
        node.previous = nil
    }
}

final class Tenant {
    let name: String
    let cache = RecencyCache(capacity: 50)
    init(name: String) { self.name = name }

    func browse(pages: Int, offset: Int) -> Int {
        (0..<pages).reduce(0) { $0 + cache.picture("\(name)/\(offset + $1)").pixels.count }
    }
}

let resident = Tenant(name: "resident")
var bytes = 0
var hits = 0
for day in 0..<40 {
    bytes += resident.browse(pages: 30, offset: day * 20)
    if day % 5 == 3 {
        let guest = Tenant(name: "guest\(day)")
        bytes += guest.browse(pages: 70, offset: 0)
        bytes += guest.browse(pages: 10, offset: 60)
        hits += guest.cache.hits
        guest.cache.removeAll()
    }
    Thread.sleep(forTimeInterval: 0.025)
}
print("bytes \(bytes), resident hits \(resident.cache.hits), guest hits \(hits)")
