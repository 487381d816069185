import Foundation

struct Thumbnail: Sendable {
    let photo: Int
    let histogram: [Int]
}

actor ThumbnailService {
    static let shared = ThumbnailService()
    private var sinks: [Int: [AsyncStream<Thumbnail>.Continuation]] = [:]

    func thumbnails(of photo: Int) -> AsyncStream<Thumbnail> {
        let (stream, sink) = AsyncStream.makeStream(of: Thumbnail.self)
        sinks[photo, default: []].append(sink)
        return stream
    }

    func stop(_ photo: Int) {
        sinks.removeValue(forKey: photo)?.forEach { $0.finish() }
    }

    func render(_ photos: some Collection<Int> & Sendable, pass: Int) {
        for photo in photos {
            var histogram = Array(repeating: 0, count: 8)
            for pixel in 0..<128 {
                histogram[(pixel * photo + pass) % 8] += 1
            }
            sinks[photo]?.forEach { $0.yield(Thumbnail(photo: photo, histogram: histogram)) }
        }
    }

    var watched: Int { sinks.count }
}

final class PhotoCell: @unchecked Sendable {
    let photo: Int
    private let lock = NSLock()
    private var peak: Int?
    private var passes = 0

    init(photo: Int) {
        self.photo = photo
    }

    func run() async {
        let thumbnails = await ThumbnailService.shared.thumbnails(of: photo)
        for await thumbnail in thumbnails {
            draw(thumbnail)
        }
        await ThumbnailService.shared.stop(photo)
    }

    private func draw(_ thumbnail: Thumbnail) {
        lock.withLock {
            peak = thumbnail.histogram.max()
            passes += 1
        }
    }

    var brightest: Int? { lock.withLock { peak } }
}

actor PhotoGrid {
    static let shared = PhotoGrid()
    static let columns = 20

    private var cells: [Int: PhotoCell] = [:]
    private var loaders: [Int: Task<Void, Never>] = [:]
    private(set) var recycled = 0

    func show(_ range: Range<Int>) async {
        var finished: [Task<Void, Never>] = []
        for photo in cells.keys where !range.contains(photo) {
            cells[photo] = nil
            if let loader = loaders.removeValue(forKey: photo) {
                loader.cancel()
                finished.append(loader)
            }
            recycled += 1
        }
        for loader in finished {
            await loader.value
        }
        for photo in range where cells[photo] == nil {
            let cell = PhotoCell(photo: photo)
            cells[photo] = cell
            loaders[photo] = Task.detached { await cell.run() }
        }
        while await ThumbnailService.shared.watched < cells.count {
            try? await Task.sleep(for: .milliseconds(1))
        }
    }

    func waitForImages() async {
        while cells.values.contains(where: { $0.brightest == nil }) {
            try? await Task.sleep(for: .milliseconds(1))
        }
    }

    var onScreen: Int { cells.count }
    var glow: Int { cells.values.reduce(0) { $0 + ($1.brightest ?? 0) } }
}

@main
struct Album {
    static func main() async {
        let grid = PhotoGrid.shared
        for row in stride(from: 0, through: 12, by: 4) {
            let range = (row * PhotoGrid.columns)..<((row + 10) * PhotoGrid.columns)
            await grid.show(range)
            await ThumbnailService.shared.render(range, pass: row)
            await grid.waitForImages()
            print("row \(row): glow \(await grid.glow)")
        }
        print("on screen \(await grid.onScreen), recycled \(await grid.recycled)")
    }
}
