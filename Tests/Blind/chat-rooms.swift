import Foundation

final class ChatHub: @unchecked Sendable {
    static let shared = ChatHub()
    private let lock = NSLock()
    private var sinks: [Int: (room: String, sink: AsyncStream<String>.Continuation)] = [:]
    private var nextID = 0

    func messages(in room: String) -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        let id: Int = lock.withLock {
            nextID += 1
            sinks[nextID] = (room, continuation)
            return nextID
        }
        continuation.onTermination = { [weak self] _ in
            guard let self else { return }
            self.lock.withLock { _ = self.sinks.removeValue(forKey: id) }
        }
        return stream
    }

    func post(_ text: String, to room: String) {
        let targets = lock.withLock { sinks.values.filter { $0.room == room }.map { $0.sink } }
        for target in targets { target.yield(text) }
    }
}

final class RoomView: @unchecked Sendable {
    let room: String
    private var lines: [String] = []
    private var listener: Task<Void, Never>?
    private let lock = NSLock()

    init(room: String) { self.room = room }

    func appear() {
        let stream = ChatHub.shared.messages(in: room)
        listener = Task {
            for await line in stream {
                self.show(line)
            }
        }
    }

    private func show(_ line: String) {
        lock.withLock {
            lines.append(line)
            if lines.count > 200 { lines.removeFirst() }
        }
    }

    var lineCount: Int { lock.withLock { lines.count } }

    func disappear() {
        listener?.cancel()
        listener = nil
    }
}

final class Window {
    private var views: [String: RoomView] = [:]
    private(set) var seen = 0

    func join(_ room: String) {
        let view = RoomView(room: room)
        view.appear()
        views[room] = view
    }

    func leave(_ room: String) {
        guard let view = views.removeValue(forKey: room) else { return }
        view.disappear()
        seen += view.lineCount
    }

    func kick(from room: String) {
        guard let view = views.removeValue(forKey: room) else { return }
        seen += view.lineCount
    }
}

@main
struct ChatClient {
    static func main() async throws {
        let window = Window()
        let rooms = ["#swift", "#linux", "#random"]
        for round in 0..<3 {
            for room in rooms { window.join(room) }
            try await Task.sleep(for: .milliseconds(20))
            for n in 0..<10 { for room in rooms { ChatHub.shared.post("msg \(n)", to: room) } }
            try await Task.sleep(for: .milliseconds(80))
            for (i, room) in rooms.enumerated() {
                if i == round { window.kick(from: room) } else { window.leave(room) }
            }
        }
        try await Task.sleep(for: .milliseconds(200))
        print("chat lines seen:", window.seen > 0)
    }
}
