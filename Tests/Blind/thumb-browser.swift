import Foundation

// Thumbnail service of a photo browser. Files changed on disk are rendered again in place.

struct PhotoKey: Hashable {
    let album: Int
    let index: Int
    var path: String { "/photos/\(album)/IMG_\(1000 + index).jpg" }
}

final class Thumbnail {
    let width: Int
    let height: Int
    let pixels: [UInt8]
    let revision: Int

    init(width: Int, height: Int, pixels: [UInt8], revision: Int) {
        self.width = width
        self.height = height
        self.pixels = pixels
        self.revision = revision
    }

    var cost: Int { pixels.count }
}

struct Renderer {
    let edge: Int

    func render(_ key: PhotoKey, revision: Int) -> Thumbnail {
        var seed = UInt32(truncatingIfNeeded: key.album &* 7919 &+ key.index &* 104_729 &+ revision)
        var row = [UInt8](repeating: 0, count: edge)
        var pixels: [UInt8] = []
        pixels.reserveCapacity(edge * edge)
        for y in 0..<edge {
            for x in 0..<edge {
                seed = seed &* 1_664_525 &+ 1_013_904_223
                let left = x > 0 ? Int(row[x - 1]) : y
                row[x] = UInt8((Int(row[x]) + left + Int(seed >> 24)) / 3 & 0xff)
            }
            pixels.append(contentsOf: row)
        }
        return Thumbnail(width: edge, height: edge, pixels: pixels, revision: revision)
    }
}

final class ThumbnailStore {
    private let byteLimit: Int
    private let renderer: Renderer
    private var images: [PhotoKey: Thumbnail] = [:]
    private var order: [PhotoKey] = []
    private var bytes = 0
    private(set) var hits = 0
    private(set) var renders = 0

    init(byteLimit: Int, renderer: Renderer) {
        self.byteLimit = byteLimit
        self.renderer = renderer
    }

    func thumbnail(for key: PhotoKey) -> Thumbnail {
        if let image = images[key] {
            hits += 1
            return image
        }
        let image = make(key, revision: 0)
        order.append(key)
        insert(image, for: key)
        return image
    }

    /// Called by the folder watcher when the file behind a visible thumbnail has changed.
    func refresh(_ key: PhotoKey) {
        guard let old = images[key] else { return }
        bytes -= old.cost
        insert(make(key, revision: old.revision + 1), for: key)
    }

    private func make(_ key: PhotoKey, revision: Int) -> Thumbnail {
        renders += 1
        return renderer.render(key, revision: revision)
    }

    private func insert(_ image: Thumbnail, for key: PhotoKey) {
        if let old = images.updateValue(image, forKey: key) {
            bytes -= old.cost
        }
        bytes += image.cost
        while bytes > byteLimit, !order.isEmpty {
            let victim = order.removeFirst()
            if let gone = images.removeValue(forKey: victim) { bytes -= gone.cost }
        }
    }
}

let store = ThumbnailStore(byteLimit: 200 * 24 * 24, renderer: Renderer(edge: 24))
var checksum = 0

/// One scroll step: the user looks at the next page of twenty photos.
func showPage(_ page: Int) {
    for cell in 0..<20 {
        let image = store.thumbnail(for: PhotoKey(album: page / 12, index: page % 12 * 20 + cell))
        checksum = checksum &* 31 &+ Int(image.pixels[(page + cell) % image.pixels.count])
    }
}

for page in 0..<40 {
    showPage(page)
    if page > 0 { showPage(page - 1) }
    Thread.sleep(forTimeInterval: 0.006)
}
print("browsing: renders \(store.renders), hits \(store.hits)")

// The user starts to apply a filter to each page before going on to the next one.
for page in 40..<150 {
    for cell in 0..<20 {
        store.refresh(PhotoKey(album: (page - 1) / 12, index: (page - 1) % 12 * 20 + cell))
    }
    showPage(page)
    Thread.sleep(forTimeInterval: 0.006)
}
print("editing: renders \(store.renders), hits \(store.hits), checksum \(String(UInt(bitPattern: checksum), radix: 16))")
