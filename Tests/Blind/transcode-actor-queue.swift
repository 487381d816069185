// Podcast platform: uploaded episodes are transcoded by a small pool of tasks.
import Foundation

final class Episode: Sendable {
    let id: Int
    let show: String
    let pcm: [Int16]

    init(id: Int, show: String, pcm: [Int16]) {
        self.id = id
        self.show = show
        self.pcm = pcm
    }
}

actor EpisodeQueue {
    private var episodes: [Episode] = []
    private var producers: [CheckedContinuation<Void, Never>] = []
    private var consumers: [CheckedContinuation<Episode?, Never>] = []
    private var closed = false
    private let capacity: Int
    private(set) var suspensions = 0

    init(capacity: Int) { self.capacity = capacity }

    func put(_ episode: Episode) async {
        while episodes.count >= capacity {
            suspensions += 1
            await withCheckedContinuation { producers.append($0) }
        }
        if consumers.isEmpty {
            episodes.append(episode)
        } else {
            consumers.removeFirst().resume(returning: episode)
        }
    }

    func take() async -> Episode? {
        if !episodes.isEmpty {
            let episode = episodes.removeFirst()
            if !producers.isEmpty { producers.removeFirst().resume() }
            return episode
        }
        if closed { return nil }
        return await withCheckedContinuation { consumers.append($0) }
    }

    func close() {
        closed = true
        consumers.forEach { $0.resume(returning: nil) }
        consumers.removeAll()
    }
}

actor Library {
    private(set) var episodes = 0
    private(set) var bytes = 0
    private var perShow: [String: Int] = [:]

    func publish(show: String, size: Int) {
        episodes += 1
        bytes += size
        perShow[show, default: 0] += 1
    }

    func summary() -> String {
        perShow.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
    }
}

struct Encoder {
    func encode(_ pcm: [Int16]) -> [UInt8] {
        var out: [UInt8] = []
        var last: Int16 = 0
        for sample in pcm {
            out.append(UInt8(truncatingIfNeeded: (sample &- last) >> 4))
            last = sample
        }
        return out
    }
}

@main
struct Transcoder {
    static let queue = EpisodeQueue(capacity: 20)
    static let library = Library()

    static func worker() async {
        let encoder = Encoder()
        while let episode = await queue.take() {
            let encoded = encoder.encode(episode.pcm)
            try? await Task.sleep(nanoseconds: 300_000)
            await library.publish(show: episode.show, size: encoded.count)
        }
    }

    static func main() async {
        let shows = ["Fjord Talk", "Night Trains", "Byte Sized"]
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<3 { group.addTask { await worker() } }
            for id in 0..<900 {
                let pcm = (0..<200).map { Int16(truncatingIfNeeded: $0 * id % 3000) }
                await queue.put(Episode(id: id, show: shows[id % shows.count], pcm: pcm))
            }
            await queue.close()
        }
        let total = await library.episodes
        let bytes = await library.bytes
        print("published \(total) episodes, \(bytes) bytes")
        print(await library.summary())
        print("uploader had to wait: \(await queue.suspensions > 0)")
    }
}
