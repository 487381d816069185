import Foundation

struct Observation: Sendable {
    let station: String
    let wind: Int
    let pressure: Int
}

final class StationNetwork: @unchecked Sendable {
    static let shared = StationNetwork()

    private let lock = NSLock()
    private var subscribers: [UUID: (station: String, sink: AsyncStream<Observation>.Continuation)] = [:]

    func observations(of station: String) -> AsyncStream<Observation> {
        AsyncStream { sink in
            let id = UUID()
            sink.onTermination = { _ in
                self.lock.withLock { self.subscribers[id] = nil }
            }
            lock.withLock { subscribers[id] = (station, sink) }
        }
    }

    func report(hour: Int) {
        let current = lock.withLock { Array(subscribers.values) }
        for subscriber in current {
            let seed = subscriber.station.utf8.reduce(hour) { ($0 * 33 + Int($1)) % 10_007 }
            subscriber.sink.yield(Observation(station: subscriber.station, wind: seed % 40, pressure: 990 + seed % 45))
        }
    }

    var count: Int { lock.withLock { subscribers.count } }
}

@MainActor
final class TileModel {
    let station: String
    private(set) var line = ""
    private(set) var refreshes = 0
    private var listener: Task<Void, Never>?

    init(station: String) {
        self.station = station
        let observations = StationNetwork.shared.observations(of: station)
        listener = Task { [weak self] in
            for await observation in observations {
                guard let self else { return }
                self.refresh(observation)
            }
        }
    }

    private func refresh(_ observation: Observation) {
        refreshes += 1
        line = "\(station): \(observation.wind) km/h, \(observation.pressure) hPa"
    }

    deinit {
        listener?.cancel()
    }
}

@MainActor
final class TileBoard {
    static let shared = TileBoard()

    private var tiles: [TileModel] = []
    private(set) var replaced = 0

    func arrange(_ stations: [String]) {
        for (position, station) in stations.enumerated() {
            if position < tiles.count {
                guard tiles[position].station != station else { continue }
                tiles[position] = TileModel(station: station)
                replaced += 1
            } else {
                tiles.append(TileModel(station: station))
            }
        }
    }

    func settle() async {
        while tiles.contains(where: { $0.refreshes == 0 }) {
            try? await Task.sleep(for: .milliseconds(1))
        }
    }

    var lines: [String] { tiles.map(\.line) }
}

@main
@MainActor
struct Weather {
    static func main() async {
        let board = TileBoard.shared
        let layouts = [
            ["Oslo", "Bergen", "Narvik", "Vardø"],
            ["Oslo", "Lille", "Brest", "Nantes"],
            ["Turin", "Genoa", "Pisa", "Nantes"],
            ["Graz", "Linz", "Pisa", "Wels"],
            ["Graz", "Linz", "Bern", "Chur"],
        ]
        for (hour, layout) in layouts.enumerated() {
            board.arrange(layout)
            StationNetwork.shared.report(hour: hour)
            await board.settle()
            print(board.lines[0])
        }
        while StationNetwork.shared.count > layouts[0].count {
            try? await Task.sleep(for: .milliseconds(2))
        }
        try? await Task.sleep(for: .milliseconds(20))
        print("replaced \(board.replaced), subscriptions \(StationNetwork.shared.count)")
    }
}
