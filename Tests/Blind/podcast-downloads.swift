import Foundation

protocol DownloadDelegate: AnyObject {
    func download(_ download: Download, received count: Int)
    func downloadDidEnd(_ download: Download, error: DownloadError?)
}

enum DownloadError: Error { case checksum, cancelled }

/// Like URLSession, a download keeps its delegate until it has ended.
final class Download {
    let episode: Int
    private var delegate: DownloadDelegate?
    private var remaining: Int

    init(episode: Int, size: Int, delegate: DownloadDelegate) {
        self.episode = episode
        self.remaining = size
        self.delegate = delegate
    }

    var isRunning: Bool { delegate != nil }

    func step() {
        guard let delegate else { return }
        let count = min(100, remaining)
        remaining -= count
        delegate.download(self, received: count)
        if remaining == 0 {
            end(error: episode % 6 == 5 ? .checksum : nil)
        }
    }

    func cancel() {
        if isRunning { end(error: .cancelled) }
    }

    private func end(error: DownloadError?) {
        let delegate = self.delegate
        self.delegate = nil
        delegate?.downloadDidEnd(self, error: error)
    }
}

final class EpisodeController: DownloadDelegate {
    private var download: Download?
    private let store: PodcastStore
    private var received = 0

    init(store: PodcastStore) { self.store = store }

    func start(episode: Int, size: Int) -> Download {
        let download = Download(episode: episode, size: size, delegate: self)
        self.download = download
        return download
    }

    func download(_ download: Download, received count: Int) { received += count }

    func downloadDidEnd(_ download: Download, error: DownloadError?) {
        store.finished(bytes: received, error: error)
        self.download = nil
    }
}

final class PodcastStore {
    static let shared = PodcastStore()
    private(set) var bytes = 0
    private(set) var failures = 0

    func finished(bytes: Int, error: DownloadError?) {
        if error == nil { self.bytes += bytes } else { failures += 1 }
    }
}

@main
struct Main {
    static func main() {
        var steps = 0
        for night in 0..<15 {
            var running = (0..<5).map { n in
                EpisodeController(store: .shared).start(episode: night * 5 + n, size: 250 + 90 * n)
            }
            while !running.isEmpty {
                for download in running { download.step() }
                steps += 1
                // the user stops the longest download on some nights
                if steps % 11 == 0 { running.last?.cancel() }
                running.removeAll { !$0.isRunning }
            }
        }
        print("steps \(steps) bytes \(PodcastStore.shared.bytes) failures \(PodcastStore.shared.failures)")
    }
}
