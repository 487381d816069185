import Foundation

final class GeoRecord {
    let city: String
    let polygon: [Double]
    init(city: String) {
        self.city = city
        self.polygon = (0..<40).map { Double($0 * city.count) }
    }
}

final class CachedRecord {
    let record: GeoRecord
    let expiresAt: Int
    var reads = 0
    init(record: GeoRecord, expiresAt: Int) {
        self.record = record
        self.expiresAt = expiresAt
    }
}

final class GeoCache {
    private var entries: [String: CachedRecord] = [:]
    private var pinned: [String: CachedRecord] = [:]
    private var cursor: [String] = []
    private let sweepPerCall = 12
    private(set) var loads = 0

    func pin(_ city: String) {
        pinned[city] = CachedRecord(record: GeoRecord(city: city), expiresAt: .max)
    }

    func lookup(_ city: String, now: Int) -> GeoRecord {
        sweep(now: now)
        if let entry = pinned[city] ?? entries[city], entry.expiresAt > now {
            entry.reads += 1
            return entry.record
        }
        loads += 1
        let entry = CachedRecord(record: GeoRecord(city: city), expiresAt: now + 40 + city.count % 5)
        entries[city] = entry
        return entry.record
    }

    private func sweep(now: Int) {
        if cursor.isEmpty { cursor = Array(entries.keys) }
        for key in cursor.suffix(sweepPerCall) {
            if let entry = entries[key], entry.expiresAt <= now { entries.removeValue(forKey: key) }
        }
        cursor.removeLast(min(sweepPerCall, cursor.count))
    }

    var size: Int { entries.count }
    var pinnedReads: Int { pinned.values.reduce(0) { $0 + $1.reads } }
    var pinnedCount: Int { pinned.count }
}

final class Route {
    let stops: [GeoRecord]
    init(stops: [GeoRecord]) { self.stops = stops }
    var length: Double { stops.reduce(0) { $0 + ($1.polygon.last ?? 0) } }
}

let cache = GeoCache()
for n in 0..<80 { cache.pin("capital-\(n)") }
var travelled = 0.0
var largest = 0
for now in 0..<200 {
    let names = (0..<6).map { k in k == 0 ? "capital-\(now % 25)" : "town-\((now * 5 + k) % 700)" }
    let route = Route(stops: names.map { cache.lookup($0, now: now) })
    travelled += route.length
    largest = max(largest, cache.size)
    Thread.sleep(forTimeInterval: 0.005)
}
print("travelled \(travelled), loads \(cache.loads), largest \(largest)")
print("pinned \(cache.pinnedCount) read \(cache.pinnedReads) times, now cached \(cache.size)")
