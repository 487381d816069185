import Foundation
import Dispatch
import Observation

@Observable
final class GameModel {
    var health = 100
    var gold = 0
}

let game = GameModel()
let renderQueue = DispatchQueue(label: "render")

class HUDPresenter {
    let name: String
    private(set) var frames: [String] = []

    init(name: String) { self.name = name }

    func text() -> String { "" }

    final func observe() {
        let line = withObservationTracking {
            text()
        } onChange: { [weak self] in
            renderQueue.async { self?.observe() }
        }
        frames.append(line)
        if frames.count > 3 { frames.removeFirst() }
    }
}

final class HealthBar: HUDPresenter {
    override func text() -> String { "\(name) \(game.health)" }
}

final class GoldCounter: HUDPresenter {
    override func text() -> String { "\(name) \(game.gold)" }
}

final class Level {
    private var presenters: [HUDPresenter] = []
    let number: Int

    init(number: Int) {
        self.number = number
        for player in 0..<3 {
            presenters.append(HealthBar(name: "L\(number)P\(player) health"))
            presenters.append(GoldCounter(name: "L\(number)P\(player) gold"))
        }
    }

    func start() { for presenter in presenters { presenter.observe() } }

    var characters: Int {
        presenters.reduce(0) { $0 + $1.frames.joined().count }
    }
}

var characters = 0
for number in 1...12 {
    let level = Level(number: number)
    renderQueue.sync { level.start() }
    for step in 0..<6 {
        renderQueue.sync {
            game.health = 100 - step * number
            game.gold += step
        }
        renderQueue.sync {}
    }
    renderQueue.sync { characters += level.characters }
}
renderQueue.sync { game.gold = 0; game.health = 100 }
renderQueue.sync {}
print("characters \(characters) health \(game.health)")
