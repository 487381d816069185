import Foundation

struct TileKey: Hashable {
    let zoom: Int
    let x: Int
    let y: Int
}

final class TileImage {
    let key: TileKey
    let pixels: [UInt8]
    fileprivate weak var newer: TileImage?
    fileprivate var older: TileImage?

    init(key: TileKey, edge: Int) {
        self.key = key
        pixels = (0..<(edge * edge)).map { UInt8(truncatingIfNeeded: $0 ^ (key.x * 31) ^ (key.y * 17) ^ key.zoom) }
    }

    var checksum: Int { pixels.reduce(0) { ($0 &* 33 &+ Int($1)) & 0xFFFF } }
}

final class TileCache {
    private var byKey: [TileKey: TileImage] = [:]
    private var newest: TileImage?
    private weak var oldest: TileImage?
    private let capacity: Int
    private(set) var hits = 0
    private(set) var renders = 0

    init(capacity: Int) {
        self.capacity = capacity
    }

    func tile(_ key: TileKey) -> TileImage {
        if let found = byKey[key] {
            hits += 1
            unlink(found)
            pushFront(found)
            return found
        }
        renders += 1
        let fresh = TileImage(key: key, edge: 24)
        byKey[key] = fresh
        pushFront(fresh)
        if byKey.count > capacity, let victim = oldest {
            unlink(victim)
            byKey[victim.key] = nil
        }
        return fresh
    }

    private func unlink(_ tile: TileImage) {
        let before = tile.newer
        let after = tile.older
        if let before { before.older = after } else { newest = after }
        if let after { after.newer = before } else { oldest = before }
        tile.newer = nil
        tile.older = nil
    }

    private func pushFront(_ tile: TileImage) {
        tile.older = newest
        newest?.newer = tile
        newest = tile
        if oldest == nil { oldest = tile }
    }

    var resident: Int { byKey.count }
}

struct Viewport {
    var x = 0
    var y = 0
    var zoom = 4

    mutating func pan(_ step: Int) {
        x += step % 3
        y += step % 2
        if step % 50 == 0 {
            zoom = 3 + (zoom + 1) % 4
        }
    }

    var visible: [TileKey] {
        (0..<3).flatMap { dy in (0..<4).map { dx in TileKey(zoom: zoom, x: x + dx, y: y + dy) } }
    }
}

let cache = TileCache(capacity: 48)
var viewport = Viewport()
var checksum = 0

for step in 1...240 {
    viewport.pan(step)
    for key in viewport.visible {
        checksum = (checksum + cache.tile(key).checksum) & 0xFFFFFF
    }
    if step % 3 == 0 { usleep(6_000) }
}
print("tilecache: \(cache.hits) hits, \(cache.renders) renders, \(cache.resident) resident, checksum \(checksum)")
