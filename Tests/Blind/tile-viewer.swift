import Foundation

// Map tile service: decodes tiles on demand and keeps the most recently used ones.

struct TileAddress: Hashable {
    let zoom: Int
    let x: Int
    let y: Int

    var seed: UInt32 {
        UInt32(truncatingIfNeeded: zoom &* 73_856_093 ^ x &* 19_349_663 ^ y &* 83_492_791)
    }
}

final class Tile {
    let address: TileAddress
    let texels: [UInt16]
    fileprivate weak var newer: Tile?
    fileprivate var older: Tile?

    init(address: TileAddress, edge: Int) {
        self.address = address
        var state = address.seed | 1
        var values: [UInt16] = []
        values.reserveCapacity(edge * edge)
        for _ in 0..<(edge * edge) {
            state ^= state << 13
            state ^= state >> 17
            state ^= state << 5
            values.append(UInt16(truncatingIfNeeded: state))
        }
        texels = values
    }

    var byteCount: Int { texels.count * 2 }
}

/// LRU cache over an intrusive list, limited by the bytes of the texels.
final class TileCache {
    private let budget: Int
    private var index: [TileAddress: Tile] = [:]
    private var newest: Tile?
    private weak var oldest: Tile?
    private var used = 0
    private(set) var hits = 0
    private(set) var misses = 0
    private(set) var dropped = 0

    init(budget: Int) { self.budget = budget }

    func tile(at address: TileAddress) -> Tile {
        if let tile = index[address] {
            hits += 1
            unlink(tile)
            linkFirst(tile)
            return tile
        }
        misses += 1
        let tile = Tile(address: address, edge: 20)
        index[address] = tile
        used += tile.byteCount
        linkFirst(tile)
        while used > budget, let last = oldest {
            unlink(last)
            index[last.address] = nil
            used -= last.byteCount
            dropped += 1
        }
        return tile
    }

    private func linkFirst(_ tile: Tile) {
        tile.older = newest
        newest?.newer = tile
        newest = tile
        if oldest == nil { oldest = tile }
    }

    private func unlink(_ tile: Tile) {
        let before = tile.newer, after = tile.older
        if let before { before.older = after } else { newest = after }
        after?.newer = before
        if oldest === tile { oldest = before }
        tile.newer = nil
        tile.older = nil
    }

    var load: Int { used * 100 / budget }
    var count: Int { index.count }
}

struct Camera {
    var x = 500
    var y = 340
    var zoom = 11

    mutating func step(_ frame: Int) {
        x += frame % 60 < 30 ? 1 : 0
        y += frame % 45 < 20 ? 1 : -1
        if frame % 90 == 89 { zoom = zoom == 11 ? 12 : 11 }
    }

    var visible: [TileAddress] {
        (0..<4).flatMap { dy in
            (0..<6).map { dx in TileAddress(zoom: zoom, x: x + dx, y: y + dy) }
        }
    }
}

let cache = TileCache(budget: 300 * 800)
var camera = Camera()
var luminance = 0

for frame in 0..<420 {
    camera.step(frame)
    for address in camera.visible {
        let tile = cache.tile(at: address)
        luminance &+= Int(tile.texels[frame % tile.texels.count] >> 8)
    }
    if frame % 140 == 139 {
        print("frame \(frame + 1): \(cache.count) tiles, \(cache.load)% of the budget")
    }
    usleep(2_200)
}
print("hits \(cache.hits) misses \(cache.misses) dropped \(cache.dropped) luminance \(luminance)")
