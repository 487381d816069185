// Photo wall: scaled thumbnails are kept in an LRU while the user scrolls.
import Foundation

final class Thumbnail {
    let photo: Int
    let pixels: [UInt8]
    var next: Thumbnail?
    weak var previous: Thumbnail?

    init(photo: Int, pixels: [UInt8]) {
        self.photo = photo
        self.pixels = pixels
    }
}

final class ThumbnailCache {
    private let capacity: Int
    private var table: [Int: Thumbnail] = [:]
    private var head: Thumbnail?
    private weak var tail: Thumbnail?
    private(set) var evictions = 0

    init(capacity: Int) { self.capacity = capacity }

    var count: Int { table.count }

    func get(_ photo: Int) -> Thumbnail? {
        guard let node = table[photo] else { return nil }
        unlink(node)
        pushFront(node)
        return node
    }

    func put(_ node: Thumbnail) {
        table[node.photo] = node
        pushFront(node)
        while table.count > capacity, let victim = tail {
            unlink(victim)
            table.removeValue(forKey: victim.photo)
            evictions += 1
        }
    }

    private func pushFront(_ node: Thumbnail) {
        node.next = head
        node.previous = nil
        head?.previous = node
        head = node
        if tail == nil { tail = node }
    }

    private func unlink(_ node: Thumbnail) {
        let after = node.next
        let before = node.previous
        if let before { before.next = after } else { head = after }
        if let after { after.previous = before } else { tail = before }
        node.next = nil
        node.previous = nil
    }
}

struct Scaler {
    func scale(photo: Int, edge: Int) -> Thumbnail {
        var pixels = [UInt8](repeating: 0, count: edge * edge)
        for y in 0..<edge {
            for x in 0..<edge {
                pixels[y * edge + x] = UInt8(truncatingIfNeeded: (x ^ y) &+ photo &* 13)
            }
        }
        return Thumbnail(photo: photo, pixels: pixels)
    }
}

final class PhotoWall {
    private let cache = ThumbnailCache(capacity: 80)
    private let scaler = Scaler()
    private(set) var scaled = 0
    private(set) var checksum = 0

    func show(row: Int, columns: Int) {
        for column in 0..<columns {
            let photo = row * columns + column
            let thumb: Thumbnail
            if let cached = cache.get(photo) {
                thumb = cached
            } else {
                thumb = scaler.scale(photo: photo, edge: 24)
                scaled += 1
                cache.put(thumb)
            }
            checksum &+= Int(thumb.pixels[photo % thumb.pixels.count])
        }
    }

    var summary: String {
        "scaled \(scaled), in cache \(cache.count), evicted \(cache.evictions), checksum \(checksum)"
    }
}

let wall = PhotoWall()
for row in 0..<200 {
    // three rows are visible at a time
    for visible in max(0, row - 2)...row {
        wall.show(row: visible, columns: 6)
    }
    if row % 20 == 0 { usleep(4000) }
}
print("photo wall: \(wall.summary)")
