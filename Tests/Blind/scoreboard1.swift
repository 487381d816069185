import Foundation
import Dispatch
import Observation

@Observable
final class MatchModel {
    var home = 0
    var away = 0
    var clock = 0
    var lastEvent = ""
}

let match = MatchModel()
let gameQueue = DispatchQueue(label: "game.loop")

final class HudOverlay: @unchecked Sendable {
    let spectator: String
    private var banner = ""
    private var events: [String] = []
    private(set) var redraws = 0

    init(spectator: String) {
        self.spectator = spectator
    }

    func follow() {
        withObservationTracking {
            draw(home: match.home, away: match.away, event: match.lastEvent)
        } onChange: { [self] in
            gameQueue.async {
                self.follow()
            }
        }
    }

    private func draw(home: Int, away: Int, event: String) {
        redraws += 1
        banner = "\(spectator) | \(home):\(away) | \(event)"
        events.append(event)
        if events.count > 10 { events.removeFirst(5) }
    }

    var isLive: Bool { banner.contains(":") }
}

struct Stadium {
    private var overlays: [String: HudOverlay] = [:]
    private(set) var left = 0
    private(set) var redraws = 0

    mutating func join(_ spectator: String) {
        let overlay = HudOverlay(spectator: spectator)
        overlay.follow()
        overlays[spectator] = overlay
    }

    mutating func leave(_ spectator: String) {
        guard let overlay = overlays.removeValue(forKey: spectator), overlay.isLive else { return }
        redraws += overlay.redraws
        left += 1
    }
}

struct Simulation {
    private var state: UInt64 = 0x9e3779b97f4a7c15

    mutating func step() {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        match.clock += 1
        switch state % 10 {
        case 0:
            match.home += 1
            match.lastEvent = "goal home"
        case 1:
            match.away += 1
            match.lastEvent = "goal away"
        case 2, 3:
            match.lastEvent = "corner at \(match.clock)"
        default:
            match.lastEvent = "pass at \(match.clock)"
        }
    }
}

func playMatch() -> String {
    var stadium = Stadium()
    var simulation = Simulation()
    for period in 0..<5 {
        gameQueue.sync {
            for seat in 0..<10 { stadium.join("p\(period)s\(seat)") }
        }
        for _ in 0..<12 {
            gameQueue.sync { simulation.step() }
            Thread.sleep(forTimeInterval: 0.012)
        }
        gameQueue.sync {
            for seat in 0..<10 { stadium.leave("p\(period)s\(seat)") }
        }
    }
    for _ in 0..<6 {
        gameQueue.sync { simulation.step() }
        Thread.sleep(forTimeInterval: 0.012)
    }
    return gameQueue.sync {
        "final \(match.home):\(match.away) after \(match.clock), spectators left \(stadium.left), redraws \(stadium.redraws > 200)"
    }
}

print(playMatch())
