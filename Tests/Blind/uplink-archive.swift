import Foundation
import Synchronization

final class Outbox: @unchecked Sendable {
    private let lock = NSLock()
    private var messages: [String] = []
    private var closed = false

    func put(_ message: String) { lock.withLock { messages.append(message) } }
    func close() { lock.withLock { closed = true } }

    func take() -> (batch: [String], done: Bool) {
        lock.withLock {
            defer { messages.removeAll() }
            return (messages, closed)
        }
    }
}

final class UplinkSession: @unchecked Sendable {
    static let archived = Atomic<Int>(0)
    let id: Int
    private let outbox = Outbox()
    private let sender: Task<Int, Never>
    private var transcript: [String] = []

    init(id: Int) {
        self.id = id
        let outbox = self.outbox
        sender = Task {
            var sent = 0
            while true {
                let (batch, done) = outbox.take()
                sent += batch.count
                if done { return sent }
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    func send(_ text: String) {
        transcript.append(text)
        outbox.put(text)
    }

    /// Writes the transcript when everything has been sent.
    private func archive() {
        Task {
            let sent = await sender.value
            precondition(sent == transcript.count)
            Self.archived.add(1, ordering: .relaxed)
        }
    }

    func finish() {
        outbox.close()
        archive()
    }

    func abort(reason: String) {
        transcript.append("aborted: \(reason)")
        archive()
    }
}

@main
struct GroundStation {
    static func main() async throws {
        for pass in 0..<4 {
            var sessions = (0..<10).map { UplinkSession(id: pass * 10 + $0) }
            for session in sessions {
                for n in 0..<5 { session.send("frame \(session.id).\(n)") }
            }
            try await Task.sleep(for: .milliseconds(50))
            for session in sessions {
                if session.id % 5 == 3 {
                    session.abort(reason: "loss of signal")
                } else {
                    session.finish()
                }
            }
            sessions.removeAll()
        }
        while UplinkSession.archived.load(ordering: .relaxed) < 32 {
            try await Task.sleep(for: .milliseconds(10))
        }
        try await Task.sleep(for: .milliseconds(150))
        print("sessions archived:", UplinkSession.archived.load(ordering: .relaxed))
    }
}
