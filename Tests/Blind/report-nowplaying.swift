import Foundation

struct Track: Sendable {
    let title: String
    let seconds: Int
}

enum PlayerEvent: Sendable {
    case started(Track)
    case position(Int)
    case stopped
}

final class PlayerEngine: @unchecked Sendable {
    private let lock = NSLock()
    private var observers: [Int: AsyncStream<PlayerEvent>.Continuation] = [:]
    private var serial = 0

    func events() -> AsyncStream<PlayerEvent> {
        AsyncStream { continuation in
            let id = lock.withLock { () -> Int in
                serial += 1
                observers[serial] = continuation
                return serial
            }
            continuation.onTermination = { [weak self] _ in self?.remove(id) }
        }
    }

    private func remove(_ id: Int) {
        _ = lock.withLock { observers.removeValue(forKey: id) }
    }

    func emit(_ event: PlayerEvent) {
        let targets = lock.withLock { Array(observers.values) }
        targets.forEach { $0.yield(event) }
    }

    var observerCount: Int { lock.withLock { observers.count } }
}

final class NowPlayingModel: @unchecked Sendable {
    private let lock = NSLock()
    private var title = ""
    private var position = 0
    private var handled = 0
    private var tasks: [Task<Void, Never>] = []

    init(engine: PlayerEngine) {
        tasks.append(observe(engine.events()) { model, event in
            if case .started(let track) = event { model.title = track.title }
        })
        tasks.append(observe(engine.events()) { model, event in
            if case .position(let value) = event { model.position = value }
        })
    }

    deinit {
        tasks.forEach { $0.cancel() }
    }

    private func observe(
        _ events: AsyncStream<PlayerEvent>,
        apply: @escaping @Sendable (NowPlayingModel, PlayerEvent) -> Void
    ) -> Task<Void, Never> {
        Task { [weak self] in
            for await event in events {
                guard let self else { break }
                self.lock.withLock {
                    apply(self, event)
                    self.handled += 1
                }
            }
        }
    }

    var handledCount: Int { lock.withLock { handled } }
    var summary: String { lock.withLock { "\(title)@\(position)" } }
}

func openScreens(_ total: Int, engine: PlayerEngine) async -> Int {
    var letters = 0
    for screen in 0..<total {
        let model = NowPlayingModel(engine: engine)
        engine.emit(.started(Track(title: "track \(screen)", seconds: 180)))
        engine.emit(.position(screen % 180))
        while model.handledCount < 4 { await Task.yield() }
        letters += model.summary.count
        try? await Task.sleep(nanoseconds: 3_000_000)
    }
    return letters
}

let engine = PlayerEngine()
let letters = await openScreens(100, engine: engine)
for _ in 0..<100 where engine.observerCount > 0 { try? await Task.sleep(nanoseconds: 1_000_000) }
print("100 screens, \(letters) characters, \(engine.observerCount) observers left")
