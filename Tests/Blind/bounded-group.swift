import Foundation

final class Thumbnail: Sendable {
    let name: String
    let pixels: [UInt8]
    init(name: String, side: Int) {
        self.name = name
        pixels = [UInt8](repeating: UInt8(side & 0xff), count: side * side)
    }
}

actor ThumbnailStore {
    static let shared = ThumbnailStore()
    private(set) var saved = 0
    private(set) var bytes = 0
    private(set) var rendered = 0
    func save(_ t: Thumbnail) {
        saved += 1
        bytes += t.pixels.count
    }
    func didRender() { rendered += 1 }
}

final class JobFeed: Sendable {
    static let shared = JobFeed()
    let jobs: AsyncStream<String>
    private let sink: AsyncStream<String>.Continuation
    init() { (jobs, sink) = AsyncStream.makeStream(of: String.self) }
    func submit(_ name: String) { sink.yield(name) }
}

struct Renderer: Sendable {
    let limit = 8

    func run() async {
        await withTaskGroup(of: Thumbnail.self) { group in
            var inFlight = 0
            for await name in JobFeed.shared.jobs {
                if inFlight == limit, let done = await group.next() {
                    await ThumbnailStore.shared.save(done)
                    inFlight -= 1
                }
                group.addTask {
                    try? await Task.sleep(for: .milliseconds(1))
                    let t = Thumbnail(name: name, side: 48)
                    await ThumbnailStore.shared.didRender()
                    return t
                }
                inFlight += 1
            }
            for await done in group { await ThumbnailStore.shared.save(done) }
        }
    }
}

@main
struct ThumbnailDaemon {
    static func main() async throws {
        Task { await Renderer().run() }
        for round in 0..<6 {
            for n in 0..<50 { JobFeed.shared.submit("album\(round)/img_\(n).jpg") }
            while await ThumbnailStore.shared.rendered < (round + 1) * 50 {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        try await Task.sleep(for: .milliseconds(100))
        print("thumbnails saved:", await ThumbnailStore.shared.saved)
    }
}
