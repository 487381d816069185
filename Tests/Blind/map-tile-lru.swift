import Foundation

struct TileKey: Hashable {
    let zoom: Int
    let x: Int
    let y: Int
}

final class TileEntry {
    let key: TileKey
    let pixels: [UInt8]
    var newer: TileEntry?
    var older: TileEntry?

    init(key: TileKey, pixels: [UInt8]) {
        self.key = key
        self.pixels = pixels
    }
}

final class TileCache {
    private let capacity: Int
    private var index: [TileKey: TileEntry] = [:]
    private var newest: TileEntry?
    private var oldest: TileEntry?
    private(set) var hits = 0
    private(set) var misses = 0
    private(set) var evictions = 0

    init(capacity: Int) { self.capacity = capacity }

    func tile(_ key: TileKey, render: (TileKey) -> [UInt8]) -> [UInt8] {
        if let entry = index[key] {
            hits += 1
            detach(entry)
            pushFront(entry)
            return entry.pixels
        }
        misses += 1
        let entry = TileEntry(key: key, pixels: render(key))
        index[key] = entry
        pushFront(entry)
        if index.count > capacity { evictOldest() }
        return entry.pixels
    }

    private func pushFront(_ entry: TileEntry) {
        entry.older = newest
        newest?.newer = entry
        newest = entry
        if oldest == nil { oldest = entry }
    }

    private func detach(_ entry: TileEntry) {
        if newest === entry { newest = entry.older }
        if oldest === entry { oldest = entry.newer }
        entry.newer?.older = entry.older
        entry.older?.newer = entry.newer
        entry.newer = nil
        entry.older = nil
    }

    private func evictOldest() {
        guard let victim = oldest else { return }
        index.removeValue(forKey: victim.key)
        oldest = victim.newer
        victim.newer = nil
        evictions += 1
    }

    var count: Int { index.count }
}

func renderTile(_ key: TileKey) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 256)
    let seed = key.x &* 31 &+ key.y &* 17 &+ key.zoom
    for i in bytes.indices {
        bytes[i] = UInt8(truncatingIfNeeded: seed &* (i + 3) ^ (i >> 2))
    }
    return bytes
}

let cache = TileCache(capacity: 96)
var checksum: UInt64 = 0
var centreX = 500
var centreY = 300
var state: UInt32 = 7

for _ in 0..<700 {
    state = state &* 1664525 &+ 1013904223
    switch (state >> 24) % 6 {
    case 0, 1: centreX += 1
    case 2: centreX -= 1
    case 3, 4: centreY += 1
    default: centreY -= 1
    }
    for dx in -2...2 {
        for dy in -1...1 {
            let key = TileKey(zoom: 14, x: centreX + dx, y: centreY + dy)
            let pixels = cache.tile(key, render: renderTile)
            checksum = checksum &* 131 &+ UInt64(pixels[dx + 7])
        }
    }
}

print("cached \(cache.count) tiles, hits \(cache.hits), misses \(cache.misses), evictions \(cache.evictions)")
print("view checksum", checksum % 1_000_000_007)
