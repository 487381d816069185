import Foundation

struct TileKey: Hashable {
    let zoom: Int
    let column: Int
    let row: Int
}

/// A decoded square of the hiking map.
final class MapTile {
    let key: TileKey
    let heights: [Int16]
    fileprivate var newer: MapTile?
    fileprivate unowned(unsafe) var older: MapTile?

    init(key: TileKey) {
        self.key = key
        heights = (0..<128).map { Int16(truncatingIfNeeded: key.column * 31 + key.row * 17 + $0 * key.zoom) }
    }

    var summit: Int16 { heights.max() ?? 0 }
}

/// Keeps the tiles used last; the order list runs from oldest to newest.
final class TileStore {
    private let limit: Int
    private var tiles: [TileKey: MapTile] = [:]
    private var oldest: MapTile?
    private unowned(unsafe) var newest: MapTile?
    private(set) var decoded = 0
    private(set) var reused = 0

    init(limit: Int) { self.limit = limit }

    func tile(_ key: TileKey) -> MapTile {
        if let known = tiles[key] {
            reused += 1
            unlink(known)
            append(known)
            return known
        }
        decoded += 1
        let tile = MapTile(key: key)
        tiles[key] = tile
        append(tile)
        if tiles.count > limit, let last = oldest {
            unlink(last)
            tiles.removeValue(forKey: last.key)
        }
        return tile
    }

    private func append(_ tile: MapTile) {
        tile.older = newest
        if let last = newest { last.newer = tile } else { oldest = tile }
        newest = tile
    }

    private func unlink(_ tile: MapTile) {
        let next = tile.newer
        if let before = tile.older { before.newer = next } else { oldest = next }
        if let next { next.older = tile.older } else { newest = tile.older }
        tile.newer = nil
        tile.older = nil
    }

    var held: Int { tiles.count }
}

struct Walker {
    var x = 500
    var y = 500
    private var state: UInt32 = 2_024

    mutating func step() {
        state = state &* 1_103_515_245 &+ 12_345
        x += Int(state >> 16) % 5 - 1
        state = state &* 1_103_515_245 &+ 12_345
        y += Int(state >> 16) % 5 - 2
    }

    func view(zoom: Int) -> [TileKey] {
        (-1...1).flatMap { dx in
            (-1...1).map { dy in TileKey(zoom: zoom, column: x / 2 + dx, row: y / 2 + dy) }
        }
    }
}

let store = TileStore(limit: 64)
var walker = Walker()
var climb = 0
for minute in 0..<900 {
    walker.step()
    for key in walker.view(zoom: 12 + minute / 300) {
        climb += Int(store.tile(key).summit) & 0x3f
    }
    if minute % 20 == 0 { usleep(14_000) }
}
print("decoded \(store.decoded) tiles, reused \(store.reused), held \(store.held), climb \(climb)")
