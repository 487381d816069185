import Foundation

struct Thumbnail {
    let width: Int
    let height: Int
    let histogram: [UInt16]
}

final class CacheNode {
    let photo: String
    let image: Thumbnail
    var next: CacheNode?
    weak var prev: CacheNode?

    init(photo: String, image: Thumbnail) {
        self.photo = photo
        self.image = image
    }
}

final class ThumbnailCache {
    private var table: [String: CacheNode] = [:]
    private var head: CacheNode?
    private weak var tail: CacheNode?
    let capacity: Int
    private(set) var hits = 0, misses = 0, drops = 0

    init(capacity: Int) {
        precondition(capacity > 0)
        self.capacity = capacity
    }

    func image(for photo: String, make: () -> Thumbnail) -> Thumbnail {
        if let node = table[photo] {
            hits += 1
            remove(node)
            insertAtHead(node)
            return node.image
        }
        misses += 1
        if table.count == capacity, let last = tail {
            remove(last)
            table[last.photo] = nil
            drops += 1
        }
        let node = CacheNode(photo: photo, image: make())
        table[photo] = node
        insertAtHead(node)
        return node.image
    }

    private func insertAtHead(_ node: CacheNode) {
        node.next = head
        head?.prev = node
        head = node
        if tail == nil { tail = node }
    }

    private func remove(_ node: CacheNode) {
        let before = node.prev
        let after = node.next
        if let b = before { b.next = after } else { head = after }
        if let a = after { a.prev = before } else { tail = before }
        node.next = nil
        node.prev = nil
    }

    var photosByRecency: [String] {
        var names: [String] = []
        var node = head
        while let n = node {
            names.append(n.photo)
            node = n.next
        }
        return names
    }
}

func decode(_ photo: String) -> Thumbnail {
    var histogram = [UInt16](repeating: 0, count: 64)
    var h: UInt32 = 2166136261
    for byte in photo.utf8 {
        h = (h ^ UInt32(byte)) &* 16777619
        histogram[Int(h % 64)] += 1
    }
    return Thumbnail(width: 96 + Int(h % 32), height: 72 + Int(h % 24), histogram: histogram)
}

let cache = ThumbnailCache(capacity: 150)
let albums = ["iceland", "wedding", "garden", "marathon", "newborn"]
var state: UInt32 = 99
func draw(_ n: UInt32) -> Int {
    state ^= state << 13
    state ^= state >> 17
    state ^= state << 5
    return Int(state % n)
}

var area = 0
for session in 0..<120 {
    let album = albums[draw(5)]
    let start = draw(500)
    for offset in 0..<40 {
        let jump = draw(10) == 0 ? draw(60) : 0
        let photo = "\(album)/IMG_\(start + offset - jump)"
        let image = cache.image(for: photo) { decode(photo) }
        area += image.width * image.height
    }
    if session % 40 == 39 {
        print("session \(session + 1): hits \(cache.hits), misses \(cache.misses), dropped \(cache.drops)")
    }
}

let recent = cache.photosByRecency
print("cached \(recent.count), most recent \(recent.first ?? "-"), least recent \(recent.last ?? "-")")
print("pixels shown \(area)")
