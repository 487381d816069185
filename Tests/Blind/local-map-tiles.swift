import Foundation

struct TileKey: Hashable {
    let zoom: Int
    let x: Int
    let y: Int
}

final class Tile {
    let key: TileKey
    let pixels: [UInt8]
    init(key: TileKey, side: Int) {
        self.key = key
        var p = [UInt8](repeating: 0, count: side * side)
        for i in p.indices { p[i] = UInt8(truncatingIfNeeded: i &* (key.x + 1) &+ key.y &* 3 &+ key.zoom) }
        pixels = p
    }
    var brightness: Int { pixels.reduce(0) { $0 + Int($1) } / pixels.count }
}

final class CacheEntry {
    let tile: Tile
    var next: CacheEntry?
    weak var previous: CacheEntry?
    init(_ t: Tile) { tile = t }
}

final class TileCache {
    private var entries: [TileKey: CacheEntry] = [:]
    private var head: CacheEntry?
    private weak var tail: CacheEntry?
    private var bytes = 0
    private let budget: Int
    private(set) var hits = 0
    private(set) var misses = 0
    private(set) var evictions = 0

    init(budget: Int) { self.budget = budget }

    deinit {
        var e = head
        head = nil
        while let x = e {
            e = x.next
            x.next = nil
        }
    }

    func lookup(_ key: TileKey) -> Tile? {
        guard let e = entries[key] else {
            misses += 1
            return nil
        }
        hits += 1
        unlink(e)
        pushFront(e)
        return e.tile
    }

    func store(_ tile: Tile) {
        if let old = entries.removeValue(forKey: tile.key) {
            unlink(old)
            bytes -= old.tile.pixels.count
        }
        let e = CacheEntry(tile)
        entries[tile.key] = e
        pushFront(e)
        bytes += tile.pixels.count
        while bytes > budget, let victim = tail {
            unlink(victim)
            entries[victim.tile.key] = nil
            bytes -= victim.tile.pixels.count
            evictions += 1
        }
    }

    private func pushFront(_ e: CacheEntry) {
        e.next = head
        head?.previous = e
        head = e
        if tail == nil { tail = e }
    }

    private func unlink(_ e: CacheEntry) {
        let before = e.previous
        let after = e.next
        if let b = before { b.next = after } else { head = after }
        if let a = after { a.previous = before } else { tail = before }
        e.next = nil
        e.previous = nil
    }

    var count: Int { entries.count }
    var usedBytes: Int { bytes }
}

final class TileService {
    private let cache = TileCache(budget: 400_000)
    private let lock = NSLock()
    private let loader = DispatchQueue(label: "tiles.load", attributes: .concurrent)
    private let group = DispatchGroup()
    private var light = 0
    private var served = 0

    func request(_ key: TileKey) {
        lock.lock()
        let cached = cache.lookup(key)
        lock.unlock()
        if let t = cached {
            serve(t)
            return
        }
        loader.async(group: group) { [self] in
            let tile = Tile(key: key, side: 24 + key.zoom * 4)
            lock.lock()
            cache.store(tile)
            lock.unlock()
            serve(tile)
        }
    }

    private func serve(_ t: Tile) {
        let b = t.brightness
        lock.lock()
        served += 1
        light += b
        lock.unlock()
    }

    func settle() { group.wait() }

    func report() -> String {
        lock.lock()
        defer { lock.unlock() }
        return "served \(served) cached \(cache.count) bytes \(cache.usedBytes) hits \(cache.hits) misses \(cache.misses) evicted \(cache.evictions) light \(light)"
    }
}

final class Traveller {
    private var x: Int
    private var y: Int
    private var zoom = 3
    private var seed: UInt32
    init(seed: UInt32) {
        self.seed = seed
        x = Int(seed % 50)
        y = Int(seed % 40)
    }

    private func random(_ n: Int) -> Int {
        seed = seed &* 1664525 &+ 1013904223
        return Int(seed >> 16) % n
    }

    func move() -> [TileKey] {
        x = max(0, x + random(3) - 1)
        y = max(0, y + random(3) - 1)
        if random(20) == 0 { zoom = 1 + random(6) }
        var keys: [TileKey] = []
        for dx in 0..<3 {
            for dy in 0..<2 { keys.append(TileKey(zoom: zoom, x: x + dx, y: y + dy)) }
        }
        return keys
    }
}

func browse() {
    let service = TileService()
    let people = (1...5).map { Traveller(seed: UInt32($0 * 977)) }
    for _ in 0..<220 {
        for p in people {
            for k in p.move() { service.request(k) }
        }
        service.settle()
        usleep(6_000)
    }
    print(service.report())
}

browse()
