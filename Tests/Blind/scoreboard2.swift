import Foundation
import Dispatch
import Observation

@Observable
final class RaceModel {
    var leader = 0
    var lap = 0
    var gapMillis = 0
    var flag = "green"
}

let race = RaceModel()
let raceQueue = DispatchQueue(label: "race.loop")

final class TimingWidget: @unchecked Sendable {
    let viewer: String
    private var attached = false
    private var lines: [String] = []
    private(set) var redraws = 0

    init(viewer: String) {
        self.viewer = viewer
    }

    func attach() {
        attached = true
        follow()
    }

    func detach() {
        attached = false
    }

    private func follow() {
        withObservationTracking {
            draw()
        } onChange: {
            raceQueue.async {
                guard self.attached else { return }
                self.follow()
            }
        }
    }

    private func draw() {
        redraws += 1
        lines.append("\(viewer) lap \(race.lap) car \(race.leader) +\(race.gapMillis) \(race.flag)")
        if lines.count > 10 { lines.removeFirst(5) }
    }
}

struct Grandstand {
    private var widgets: [String: TimingWidget] = [:]
    private(set) var redraws = 0
    private(set) var visits = 0

    mutating func enter(_ viewer: String) {
        let widget = TimingWidget(viewer: viewer)
        widget.attach()
        widgets[viewer] = widget
        visits += 1
    }

    mutating func leave(_ viewer: String) {
        guard let widget = widgets.removeValue(forKey: viewer) else { return }
        widget.detach()
        redraws += widget.redraws
    }

    mutating func close() {
        for viewer in Array(widgets.keys) { leave(viewer) }
    }
}

struct RaceEngine {
    private var state: UInt64 = 0x2545f4914f6cdd1d

    mutating func step() {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        race.lap += 1
        race.gapMillis = Int(state % 9_000)
        if state % 4 == 0 { race.leader = Int(state >> 8) % 20 }
        race.flag = state % 11 == 0 ? "yellow" : "green"
    }
}

func runRace() -> String {
    var stand = Grandstand()
    var engine = RaceEngine()
    raceQueue.sync {
        for box in 0..<15 { stand.enter("box\(box)") }
    }
    for stint in 0..<5 {
        raceQueue.sync {
            for seat in 0..<10 { stand.enter("s\(stint)-\(seat)") }
        }
        for _ in 0..<12 {
            raceQueue.sync { engine.step() }
            Thread.sleep(forTimeInterval: 0.012)
        }
        raceQueue.sync {
            for seat in 0..<10 { stand.leave("s\(stint)-\(seat)") }
        }
    }
    raceQueue.sync { stand.close() }
    for _ in 0..<3 {
        raceQueue.sync { engine.step() }
        Thread.sleep(forTimeInterval: 0.02)
    }
    return raceQueue.sync {
        "laps \(race.lap), leader \(race.leader), visits \(stand.visits), redraws \(stand.redraws > 300)"
    }
}

print(runRace())
