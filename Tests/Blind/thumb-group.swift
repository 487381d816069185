import Foundation

final class Picture: Sendable {
    let id: Int
    let pixels: [UInt8]
    init(id: Int) { self.id = id; pixels = (0..<1024).map { UInt8(($0 * id) & 0xff) } }
}

final class Thumbnail: Sendable {
    let id: Int
    let pixels: [UInt8]
    init(id: Int, pixels: [UInt8]) { self.id = id; self.pixels = pixels }
}

actor Gallery {
    private var newest: [Thumbnail] = []
    private(set) var stored = 0
    func store(_ t: Thumbnail) {
        newest.append(t)
        if newest.count > 16 { newest.removeFirst() }
        stored += 1
    }
}

struct Scaler: Sendable {
    func scale(_ p: Picture) async -> Thumbnail {
        await Task.yield()
        return Thumbnail(id: p.id, pixels: stride(from: 0, to: p.pixels.count, by: 16).map { p.pixels[$0] })
    }
}

final class ThumbnailService: Sendable {
    let gallery = Gallery()
    let scaler = Scaler()
    let window = 8

    /// Runs for the whole life of the program.
    func run() async {
        await withTaskGroup(of: Thumbnail.self) { group in
            var next = 1
            for _ in 0..<window {
                let id = next
                group.addTask { await self.scaler.scale(Picture(id: id)) }
                next += 1
            }
            while let t = await group.next() {
                // writing is slower than scaling
                try? await Task.sleep(nanoseconds: 2_000_000)
                await gallery.store(t)
                let id = next
                group.addTask { await self.scaler.scale(Picture(id: id)) }
                next += 1
            }
        }
    }
}

@main
enum Main {
    static let service = ThumbnailService()
    static func main() async {
        let worker = Task { await service.run() }
        for _ in 0..<200 {
            try? await Task.sleep(nanoseconds: 5_000_000)
            if await service.gallery.stored >= 150 { break }
        }
        let n = await service.gallery.stored
        print("thumbnails \(n >= 100 ? "enough" : "few") cancelled \(worker.isCancelled)")
        exit(0)
    }
}
