import Foundation
import Synchronization

/// Waits without being woken by cancellation.
func pause(_ ms: Int) async {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(ms)) {
            continuation.resume()
        }
    }
}

final class VideoSession: @unchecked Sendable {
    static let ended = Atomic<Int>(0)
    let peer: String
    let live: Bool
    private var frames: [[UInt8]] = []
    private var pump: Task<Void, Never>?
    private let lock = NSLock()

    init(peer: String, live: Bool) {
        self.peer = peer
        self.live = live
    }

    deinit { Self.ended.add(1, ordering: .relaxed) }

    func connect() {
        pump = Task {
            if live {
                await self.liveLoop()
            } else {
                await self.playbackLoop()
            }
        }
    }

    private func liveLoop() async {
        while true {
            self.encode()
            await pause(60)
        }
    }

    private func playbackLoop() async {
        while !Task.isCancelled {
            self.encode()
            await pause(20)
        }
    }

    private func encode() {
        lock.withLock {
            frames.append([UInt8](repeating: UInt8(frames.count & 0xff), count: 800))
            if frames.count > 10 { frames.removeFirst() }
        }
    }

    var frameCount: Int { lock.withLock { frames.count } }

    func hangUp() {
        pump?.cancel()
        pump = nil
    }
}

@main
struct CallServer {
    static func main() async throws {
        var frames = 0
        for round in 0..<5 {
            var sessions: [VideoSession] = []
            for n in 0..<10 {
                let session = VideoSession(peer: "sip:\(round).\(n)@example.net", live: n < 4)
                session.connect()
                sessions.append(session)
            }
            await pause(90)
            for session in sessions {
                frames += session.frameCount
                session.hangUp()
            }
            sessions.removeAll()
        }
        var patience = 0
        while VideoSession.ended.load(ordering: .relaxed) < 30, patience < 60 {
            patience += 1
            await pause(10)
        }
        await pause(200)
        print("calls freed:", VideoSession.ended.load(ordering: .relaxed), frames > 0)
    }
}
