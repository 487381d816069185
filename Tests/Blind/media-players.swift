import Foundation

enum Cue: Sendable {
    case beat(Int)
    case marker(String)
}

final class Conductor: @unchecked Sendable {
    static let main = Conductor()

    private let lock = NSRecursiveLock()
    private var parts: [Int: AsyncStream<Cue>.Continuation] = [:]
    private var lastPart = 0
    private var beat = 0

    func cues() -> AsyncStream<Cue> {
        lock.withLock {
            lastPart += 1
            let part = lastPart
            return AsyncStream { continuation in
                continuation.onTermination = { _ in
                    let old = self.lock.withLock { self.parts.removeValue(forKey: part) }
                    _ = old
                }
                parts[part] = continuation
            }
        }
    }

    func tick() {
        let (now, all) = lock.withLock {
            beat += 1
            return (beat, parts.values.map { $0 })
        }
        for part in all {
            part.yield(.beat(now))
            if now % 8 == 0 { part.yield(.marker("bar \(now / 8)")) }
        }
    }

    var listening: Int { lock.withLock { parts.count } }
}

final class Player: @unchecked Sendable {
    let track: String
    private var beats = 0
    private var bars: [String] = []
    private var follower: Task<Void, Never>?
    private let lock = NSLock()

    init(track: String) {
        self.track = track
        let cues = Conductor.main.cues()
        follower = Task { [weak self] in
            for await cue in cues {
                guard let self else { break }
                self.play(cue)
            }
        }
    }

    deinit {
        follower?.cancel()
    }

    private func play(_ cue: Cue) {
        lock.withLock {
            switch cue {
            case .beat: beats += 1
            case .marker(let name): bars.append(name)
            }
        }
    }

    var position: String { lock.withLock { "\(track) at \(bars.last ?? "start")" } }
}

struct Playlist {
    private var upcoming: [String]
    private var deck: Player?
    private(set) var played: [String] = []

    init(_ tracks: [String]) { upcoming = tracks }

    mutating func next() -> Bool {
        if let deck { played.append(deck.track) }
        guard !upcoming.isEmpty else { return false }
        deck = Player(track: upcoming.removeFirst())
        return true
    }

    var now: String { deck?.position ?? "silence" }
}

@main
struct Jukebox {
    nonisolated(unsafe) static var playlist = Playlist((1...40).map { "track\($0)" })

    static func main() async throws {
        var ticks = 0
        for _ in 1...40 {
            guard playlist.next() else { break }
            for _ in 0..<4 {
                Conductor.main.tick()
                ticks += 1
                try await Task.sleep(for: .milliseconds(2))
            }
        }
        for _ in 0..<40 {
            Conductor.main.tick()
            ticks += 1
            try await Task.sleep(for: .milliseconds(12))
        }
        print("\(playlist.now), \(playlist.played.count) played, \(ticks) ticks, \(Conductor.main.listening) listening")
    }
}
