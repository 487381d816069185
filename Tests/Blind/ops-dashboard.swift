import Foundation
import Observation

@Observable
final class ClusterState {
    static let shared = ClusterState()
    var cpu = 0
    var memory = 0
    var alerts: [String] = []
}

final class DashboardTile {
    let title: String
    private let read: () -> Int
    private(set) var value = 0
    private(set) var refreshes = 0
    private var dirty = false

    init(title: String, read: @escaping () -> Int) {
        self.title = title
        self.read = read
    }

    func track() {
        dirty = false
        value = withObservationTracking {
            read()
        } onChange: {
            self.dirty = true
        }
        refreshes += 1
    }

    func refreshIfNeeded() {
        if dirty { track() }
    }
}

final class Dashboard {
    static let shared = Dashboard()
    private let tiles: [DashboardTile]

    private init() {
        let state = ClusterState.shared
        tiles = [
            DashboardTile(title: "cpu") { state.cpu },
            DashboardTile(title: "memory") { state.memory },
            DashboardTile(title: "alerts") { state.alerts.count },
            DashboardTile(title: "load") { state.cpu + state.memory },
            DashboardTile(title: "health") { state.alerts.isEmpty ? 100 : 100 - state.cpu / 2 },
        ]
        for tile in tiles { tile.track() }
    }

    func refresh() { for tile in tiles { tile.refreshIfNeeded() } }

    var summary: String {
        tiles.map { "\($0.title)=\($0.value)/\($0.refreshes)" }.joined(separator: " ")
    }
}

final class Sample {
    let cpu: Int
    let memory: Int
    init(tick: Int) {
        cpu = (tick * 37) % 100
        memory = (tick * 13) % 64
    }
}

@main
struct Main {
    static func main() {
        let dashboard = Dashboard.shared
        for tick in 0..<150 {
            let sample = Sample(tick: tick)
            ClusterState.shared.cpu = sample.cpu
            ClusterState.shared.memory = sample.memory
            if tick % 10 == 0 { ClusterState.shared.alerts.append("alert \(tick)") }
            if ClusterState.shared.alerts.count > 4 { ClusterState.shared.alerts.removeFirst() }
            dashboard.refresh()
        }
        print(dashboard.summary)
    }
}
