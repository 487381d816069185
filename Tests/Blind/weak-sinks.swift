import Foundation

final class Signal<Value> {
    private var handlers: [UUID: (Value) -> Void] = [:]

    func observe(_ body: @escaping (Value) -> Void) -> Token {
        let id = UUID()
        handlers[id] = body
        return Token { [weak self] in self?.handlers[id] = nil }
    }

    func fire(_ value: Value) {
        for handler in handlers.values { handler(value) }
    }

    var count: Int { handlers.count }
}

final class Token {
    private let end: () -> Void
    init(_ end: @escaping () -> Void) { self.end = end }
    deinit { end() }
}

/// Lives in the whole program and is observed by every player.
enum Clock {
    static let ticks = Signal<Int>()
}

final class PlayerViewModel {
    static var alive = 0
    let volume = Signal<Double>()
    private(set) var position = 0
    private(set) var label = ""
    private var tokens: [Token] = []
    private let track: String

    lazy var describe: (Int) -> String = { [unowned self] seconds in
        "\(self.track) \(seconds / 60):\(seconds % 60)"
    }

    init(track: String) {
        self.track = track
        Self.alive += 1
        tokens.append(Clock.ticks.observe { [weak self] seconds in
            guard let self else { return }
            self.position += seconds
            self.label = self.describe(self.position)
        })
        tokens.append(volume.observe { [weak self] level in
            self?.label = "volume \(level)"
        })
    }

    deinit { Self.alive -= 1 }
}

final class Queue {
    private var players: [PlayerViewModel] = []

    func play(_ tracks: [String]) {
        players = tracks.map { PlayerViewModel(track: $0) }
    }

    func adjust() {
        for (i, player) in players.enumerated() { player.volume.fire(Double(i) / 10) }
    }

    var played: Int { players.reduce(0) { $0 + $1.position } }
    func clear() { players.removeAll() }
}

let playQueue = Queue()
var seconds = 0
for round in 0..<6 {
    playQueue.play((0..<20).map { "album\(round)/track\($0)" })
    for _ in 0..<5 { Clock.ticks.fire(7) }
    playQueue.adjust()
    seconds += playQueue.played
    playQueue.clear()
    Thread.sleep(forTimeInterval: 0.03)
}
print("seconds \(seconds), alive \(PlayerViewModel.alive), observers \(Clock.ticks.count)")
