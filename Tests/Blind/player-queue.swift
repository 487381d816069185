import Foundation

final class Track {
    let title: String
    let seconds: Int
    init(title: String, seconds: Int) {
        self.title = title
        self.seconds = seconds
    }
}

final class SampleBuffer {
    var samples: [Float]
    init(seconds: Int) {
        samples = [Float](repeating: 0, count: seconds * 1500)
        for index in stride(from: 0, to: samples.count, by: 64) {
            samples[index] = Float(index % 200) / 200
        }
    }
    func level(at fraction: Double) -> Float {
        samples[Int(Double(samples.count - 1) * fraction) / 64 * 64]
    }
}

final class QueueItem {
    let position: Int
    let track: Track
    init(position: Int, track: Track) {
        self.position = position
        self.track = track
    }
}

final class Prefetcher {
    private var buffers: [Int: SampleBuffer] = [:]
    private(set) var decoded = 0

    func prepare(_ item: QueueItem) {
        guard buffers[item.position] == nil else { return }
        buffers[item.position] = SampleBuffer(seconds: item.track.seconds)
        decoded += 1
    }

    func take(_ item: QueueItem) -> SampleBuffer {
        if let ready = buffers.removeValue(forKey: item.position) { return ready }
        decoded += 1
        return SampleBuffer(seconds: item.track.seconds)
    }
}

final class Player {
    private var queue: [QueueItem] = []
    private let prefetcher = Prefetcher()
    private var current: (item: QueueItem, buffer: SampleBuffer)?
    private var nextPosition = 0
    private(set) var played: [String] = []
    private(set) var peak: Float = 0

    func enqueue(_ track: Track) {
        queue.append(QueueItem(position: nextPosition, track: track))
        nextPosition += 1
    }

    func advance() -> Bool {
        current = nil
        guard !queue.isEmpty else { return false }
        let item = queue.removeFirst()
        current = (item, prefetcher.take(item))
        if let following = queue.first { prefetcher.prepare(following) }
        return true
    }

    func skipUpcoming() {
        guard !queue.isEmpty else { return }
        queue.removeFirst()
        if let following = queue.first { prefetcher.prepare(following) }
    }

    func playThrough() {
        guard let (item, buffer) = current else { return }
        for step in 0..<8 {
            peak = max(peak, buffer.level(at: Double(step) / 8))
            usleep(2500)
        }
        played.append(item.track.title)
    }

    var decodedCount: Int { prefetcher.decoded }
}

let library = (0..<24).map { Track(title: "Song \($0)", seconds: 150 + $0 * 7 % 90) }
let player = Player()
for n in 0..<70 { player.enqueue(library[n * 5 % library.count]) }
var step = 0
while player.advance() {
    player.playThrough()
    if step % 20 == 7 { player.skipUpcoming() }
    step += 1
}
print("played \(player.played.count), decoded \(player.decodedCount)")
print("peak \(player.peak)")
