import Foundation

struct PhotoID: Hashable {
    let album: Int
    let index: Int
}

final class Thumbnail {
    let id: PhotoID
    let pixels: [UInt8]
    fileprivate var newer: Thumbnail?
    fileprivate weak var older: Thumbnail?

    init(id: PhotoID, pixels: [UInt8]) {
        self.id = id
        self.pixels = pixels
    }

    var luminance: Int { pixels.reduce(0) { $0 + Int($1) } / pixels.count }
}

final class ThumbnailCache {
    private let limit: Int
    private var table: [PhotoID: Thumbnail] = [:]
    private var oldest: Thumbnail?
    private weak var newest: Thumbnail?
    private(set) var hits = 0
    private(set) var misses = 0

    init(limit: Int) { self.limit = limit }

    func thumbnail(_ id: PhotoID, load: (PhotoID) -> Thumbnail) -> Thumbnail {
        if let found = table[id] {
            hits += 1
            detach(found)
            attach(found)
            return found
        }
        misses += 1
        let made = load(id)
        table[id] = made
        attach(made)
        while table.count > limit, let victim = oldest {
            detach(victim)
            table[victim.id] = nil
        }
        return made
    }

    private func attach(_ item: Thumbnail) {
        item.older = newest
        if let last = newest { last.newer = item } else { oldest = item }
        newest = item
    }

    private func detach(_ item: Thumbnail) {
        let older = item.older
        let newer = item.newer
        item.newer = nil
        item.older = nil
        if let older { older.newer = newer } else { oldest = newer }
        if let newer { newer.older = older } else { newest = older }
    }

    var count: Int { table.count }
}

struct Decoder {
    func decode(_ id: PhotoID) -> Thumbnail {
        var pixels = [UInt8](repeating: 0, count: 32 * 32)
        var seed = UInt32(truncatingIfNeeded: id.album &* 7919 &+ id.index &* 104_729 &+ 1)
        for position in pixels.indices {
            seed = seed &* 1_664_525 &+ 1_013_904_223
            pixels[position] = UInt8(seed >> 24)
        }
        return Thumbnail(id: id, pixels: pixels)
    }
}

final class Gallery {
    private let cache: ThumbnailCache
    private let decoder = Decoder()
    private(set) var light = 0

    init(cache: ThumbnailCache) { self.cache = cache }

    private func show(_ id: PhotoID) {
        light += cache.thumbnail(id, load: decoder.decode).luminance
    }

    /// A reader opens a page of the album and always passes over the covers and the page before.
    func openPage(_ page: Int, ofAlbum album: Int) {
        for cover in 0..<10 { show(PhotoID(album: cover, index: 0)) }
        let pages = page > 0 ? [page - 1, page] : [page]
        for shown in pages {
            for index in 0..<12 { show(PhotoID(album: album, index: 1 + shown * 12 + index)) }
        }
    }
}

let cache = ThumbnailCache(limit: 200)
let gallery = Gallery(cache: cache)
var opened = 0
for album in 0..<25 {
    for page in 0..<12 {
        gallery.openPage(page, ofAlbum: album)
        opened += 1
        usleep(2000)
    }
}
print("opened \(opened) pages, hits \(cache.hits), misses \(cache.misses), cached \(cache.count)")
print("light \(gallery.light)")
