import Foundation
import Observation

@MainActor @Observable
final class BuildingModel {
    var temperature = 20.5
    var occupancy = 0
    var alarm = false
    @ObservationIgnored private(set) var writes = 0

    func ingest(step: Int) {
        writes += 1
        temperature += step % 3 == 0 ? 0.4 : -0.2
        occupancy = (occupancy + step * 7) % 120
        if step % 16 == 0 { alarm.toggle() }
    }
}

@MainActor let building = BuildingModel()

@MainActor
final class RoomPanel {
    let room: String
    private let model: BuildingModel
    private var rows: [String] = []
    private(set) var renders = 0

    init(room: String, model: BuildingModel) {
        self.room = room
        self.model = model
    }

    func refresh() {
        withObservationTracking {
            render()
        } onChange: {
            Task { @MainActor in
                self.refresh()
            }
        }
    }

    private func render() {
        renders += 1
        rows.append("\(room) \(String(format: "%.1f", model.temperature)) \(model.occupancy) \(model.alarm ? "ALARM" : "ok")")
        if rows.count > 12 { rows.removeFirst(6) }
    }

    var history: [String] { rows }
}

@MainActor
final class WallDisplay {
    private var panels: [RoomPanel] = []
    private(set) var dismissed = 0
    private(set) var lines = 0

    func show(floor: Int) {
        for n in 0..<5 {
            let panel = RoomPanel(room: "\(floor).\(n)", model: building)
            panel.refresh()
            panels.append(panel)
        }
    }

    func clear() {
        lines += panels.reduce(0) { $0 + $1.history.count }
        dismissed += panels.count
        panels.removeAll()
    }
}

@main
struct BuildingConsole {
    @MainActor
    static func main() async throws {
        let display = WallDisplay()
        var step = 0
        for floor in 1...6 {
            display.show(floor: floor)
            for _ in 0..<8 {
                step += 1
                building.ingest(step: step)
                try await Task.sleep(for: .milliseconds(18))
            }
            display.clear()
        }
        for _ in 0..<4 {
            step += 1
            building.ingest(step: step)
            try await Task.sleep(for: .milliseconds(20))
        }
        print("writes \(building.writes), dismissed \(display.dismissed), lines \(display.lines > 60)")
    }
}
