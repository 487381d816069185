import Foundation
import Observation

@MainActor @Observable
final class ClimateModel {
    var temperature = 21.0
    var humidity = 40.0
    var setPoint = 21.5
    @ObservationIgnored private(set) var writes = 0

    func ingest(step: Int) {
        writes += 1
        temperature += step % 2 == 0 ? 0.3 : -0.2
        humidity = 40 + Double(step % 9)
    }
}

@MainActor let climate = ClimateModel()

@MainActor
final class ClimateTile {
    let title: String
    private let model: ClimateModel
    private var text = ""
    private(set) var renders = 0

    init(title: String, model: ClimateModel) {
        self.title = title
        self.model = model
        track()
    }

    private func track() {
        withObservationTracking {
            render()
        } onChange: { [weak self] in
            Task { @MainActor [weak self] in
                self?.track()
            }
        }
    }

    private func render() {
        renders += 1
        let delta = model.setPoint - model.temperature
        let bar = String(repeating: delta > 0 ? "+" : "-", count: min(20, Int(abs(delta) * 10)))
        text = "\(title): \(String(format: "%.1f", model.temperature)) \(bar) \(Int(model.humidity))%"
    }

    var line: String { text }
}

@MainActor
final class Dashboard {
    private var tiles: [ClimateTile] = []
    private(set) var rendered = 0
    private(set) var longest = 0

    func present(_ titles: [String]) {
        tiles = titles.map { ClimateTile(title: $0, model: climate) }
    }

    func dismiss() {
        for tile in tiles {
            rendered += tile.renders
            longest = max(longest, tile.line.count)
        }
        tiles.removeAll()
    }
}

@main
struct ClimateConsole {
    @MainActor
    static func main() async throws {
        let dashboard = Dashboard()
        let rooms = ["lobby", "lab", "server room", "canteen", "archive", "studio"]
        var step = 0
        for _ in 0..<6 {
            dashboard.present(rooms)
            for _ in 0..<8 {
                step += 1
                climate.ingest(step: step)
                try await Task.sleep(for: .milliseconds(18))
            }
            dashboard.dismiss()
        }
        climate.ingest(step: step + 1)
        try await Task.sleep(for: .milliseconds(40))
        print("writes \(climate.writes), rendered \(dashboard.rendered > 100), widest line \(dashboard.longest > 15)")
    }
}
