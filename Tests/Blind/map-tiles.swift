import Foundation

struct TileKey: Hashable {
    let x: Int
    let y: Int
    let zoom: Int
}

final class CachedTile {
    let key: TileKey
    let createdAt: Int
    var bytes: [UInt8]

    init(key: TileKey, createdAt: Int) {
        self.key = key
        self.createdAt = createdAt
        self.bytes = [UInt8](repeating: UInt8(createdAt & 0xff), count: 64)
    }
}

final class TileSweeper {
    let ttl: Int
    init(ttl: Int) { self.ttl = ttl }

    func expired(_ tile: CachedTile, now: Int) -> Bool {
        tile.createdAt + ttl <= now
    }
}

final class TileConfig {
    let ttl: Int
    let style: String
    init(ttl: Int, style: String) {
        self.ttl = ttl
        self.style = style
    }
}

final class TileCache {
    private var tiles: [TileKey: CachedTile] = [:]
    private var config: TileConfig
    private var sweeper: TileSweeper?

    init(config: TileConfig) {
        self.config = config
        self.sweeper = TileSweeper(ttl: config.ttl)
    }

    func reload(_ newConfig: TileConfig) {
        sweeper = nil
        config = newConfig
    }

    func tick(_ now: Int) {
        guard let sweeper else { return }
        let old = tiles.values.filter { sweeper.expired($0, now: now) }
        for tile in old { tiles.removeValue(forKey: tile.key) }
    }

    func tile(_ key: TileKey, now: Int) -> CachedTile {
        if let hit = tiles[key] { return hit }
        let tile = CachedTile(key: key, createdAt: now)
        tiles[key] = tile
        return tile
    }

    var count: Int { tiles.count }
}

let cache = TileCache(config: TileConfig(ttl: 3, style: "day"))
var checksum = 0

for now in 0..<100 {
    if now == 10 {
        cache.reload(TileConfig(ttl: 3, style: "night"))
    }
    cache.tick(now)
    for n in 0..<5 {
        let key = TileKey(x: now, y: n, zoom: 12)
        for _ in 0..<2 {
            checksum &+= Int(cache.tile(key, now: now).bytes[n])
        }
    }
}
print("tiles in cache \(cache.count) checksum \(checksum)")
