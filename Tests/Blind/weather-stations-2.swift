import Foundation

struct Observation: Sendable {
    let station: String
    let tenths: Int
}

final class WeatherModel: @unchecked Sendable {
    private let lock = NSLock()
    private var requests = 0

    func temperature(at station: String, step: Int) -> Int {
        lock.lock()
        defer { lock.unlock() }
        requests += 1
        return 120 + (station.utf8.reduce(0) { $0 &+ Int($1) } * (step % 7 + 1)) % 90
    }

    var served: Int { lock.withLock { requests } }
}

actor Archive {
    private var extremes: [String: (low: Int, high: Int)] = [:]

    func store(_ observation: Observation) {
        let old = extremes[observation.station] ?? (observation.tenths, observation.tenths)
        extremes[observation.station] = (min(old.low, observation.tenths), max(old.high, observation.tenths))
    }

    var stations: Int { extremes.count }
}

final class Station: @unchecked Sendable {
    let name: String
    private let model: WeatherModel
    private let archive: Archive
    private var step = 0

    init(name: String, model: WeatherModel, archive: Archive) {
        self.name = name
        self.model = model
        self.archive = archive
    }

    func startPolling() {
        Task { [weak self] in
            while await self?.poll() != nil {
                try? await Task.sleep(for: .milliseconds(10))
            }
        }
    }

    private func poll() async {
        step += 1
        await archive.store(Observation(station: name, tenths: model.temperature(at: name, step: step)))
    }
}

struct Network {
    let model: WeatherModel
    let archive: Archive
    private var active: [Station] = []
    private(set) var founded = 0

    init(model: WeatherModel, archive: Archive) {
        self.model = model
        self.archive = archive
    }

    mutating func deploy(_ names: [String]) {
        active = names.map { Station(name: $0, model: model, archive: archive) }
        active.forEach { $0.startPolling() }
        founded += names.count
    }

    var names: [String] { active.map(\.name) }
}

@main
struct WeatherService {
    nonisolated(unsafe) static var network = Network(model: WeatherModel(), archive: Archive())

    static func awaitArchive(_ count: Int) async throws {
        while await network.archive.stations < count {
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    static func main() async throws {
        let regions = ["north", "east", "south", "west", "coast", "alps", "lakes", "heath"]
        for region in regions {
            network.deploy((1...5).map { "\(region)-\($0)" })
            try await awaitArchive(network.founded)
            try await Task.sleep(for: .milliseconds(20))
        }
        for _ in 0..<20 {
            try await Task.sleep(for: .milliseconds(20))
        }
        let enough = network.model.served > 100
        print("active \(network.names), archived \(await network.archive.stations), polled: \(enough)")
    }
}
