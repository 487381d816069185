import Foundation

struct PlaybackEvent {
    let second: Int
    let volume: Int
}

final class EventToken {
    private var onCancel: (() -> Void)?

    init(_ onCancel: @escaping () -> Void) {
        self.onCancel = onCancel
    }

    func cancel() {
        onCancel?()
        onCancel = nil
    }
}

final class EventChannel {
    static let playback = EventChannel()
    private var handlers: [Int: (PlaybackEvent) -> Void] = [:]
    private var nextKey = 0

    func subscribe(_ handler: @escaping (PlaybackEvent) -> Void) -> EventToken {
        nextKey += 1
        let key = nextKey
        handlers[key] = handler
        return EventToken { [weak self] in
            self?.handlers[key] = nil
        }
    }

    func send(_ event: PlaybackEvent) {
        for key in handlers.keys.sorted() {
            handlers[key]?(event)
        }
    }

    var subscriberCount: Int { handlers.count }
}

final class SubtitlePane {
    let language: String
    private var tokens: [EventToken] = []
    private(set) var cue = ""
    private(set) var cuesShown = 0
    private var quietSeconds = 0

    init(language: String) {
        self.language = language
    }

    func open(on channel: EventChannel) {
        tokens.append(channel.subscribe { event in
            self.advance(to: event.second)
        })
        tokens.append(channel.subscribe { event in
            if event.volume < 20 { self.quietSeconds += 1 }
        })
    }

    private func advance(to second: Int) {
        if second % 3 == 0 {
            cue = "[\(language)] cue \(second / 3)"
            cuesShown += 1
        }
    }

    func close() -> Int {
        tokens.forEach { $0.cancel() }
        tokens.removeAll()
        return cuesShown + quietSeconds
    }
}

final class MovieSession {
    private let languages = ["fi", "pt", "ko", "cs"]
    private var second = 0
    private(set) var points = 0

    func watch(scene: Int) {
        let pane = SubtitlePane(language: languages[scene % languages.count])
        pane.open(on: .playback)
        for _ in 0..<9 {
            second += 1
            EventChannel.playback.send(PlaybackEvent(second: second, volume: (second * 13) % 100))
        }
        points += pane.close()
    }
}

let session = MovieSession()
for scene in 0..<200 {
    session.watch(scene: scene)
    if scene % 4 == 0 {
        Thread.sleep(forTimeInterval: 0.009)
    }
}
print("subpane: points \(session.points), subscribers \(EventChannel.playback.subscriberCount)")
exit(0)
