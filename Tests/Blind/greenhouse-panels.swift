import Foundation

struct Reading: Sendable {
    let zone: String
    let celsius: Double
    let humidity: Int
}

actor SensorFeed {
    static let shared = SensorFeed()

    private var listeners: [(zone: String, key: UUID, sink: AsyncStream<Reading>.Continuation)] = []

    func readings(in zone: String) -> AsyncStream<Reading> {
        let key = UUID()
        return AsyncStream(bufferingPolicy: .bufferingNewest(4)) { sink in
            listeners.append((zone, key, sink))
            sink.onTermination = { _ in
                Task { await self.forget(key) }
            }
        }
    }

    private func forget(_ key: UUID) {
        listeners.removeAll { $0.key == key }
    }

    func measure(round: Int) {
        for (index, listener) in listeners.enumerated() {
            let celsius = 18.0 + Double((round * 7 + index * 3) % 11) / 2
            listener.sink.yield(Reading(zone: listener.zone, celsius: celsius, humidity: 40 + round))
        }
    }
}

@MainActor
final class PanelModel {
    let zone: String
    private(set) var caption = "–"
    private(set) var updates = 0
    private var task: Task<Void, Never>?

    init(zone: String) {
        self.zone = zone
    }

    func appear(on feed: SensorFeed) async {
        let readings = await feed.readings(in: zone)
        task = Task { [weak self] in
            guard let self else { return }
            for await reading in readings {
                self.show(reading)
            }
        }
    }

    func disappear() {
        task?.cancel()
        task = nil
    }

    private func show(_ reading: Reading) {
        updates += 1
        caption = String(format: "%@ %.1f° %d%%", reading.zone, reading.celsius, reading.humidity)
    }

    deinit {
        task?.cancel()
    }
}

@MainActor
final class Dashboard {
    private var slots: [PanelModel?] = [nil, nil, nil]
    private let feed = SensorFeed.shared
    private(set) var shown = 0

    func place(_ zone: String, in slot: Int) async {
        slots[slot]?.disappear()
        let panel = PanelModel(zone: zone)
        slots[slot] = panel
        await panel.appear(on: feed)
        shown += 1
    }

    func promote(from slot: Int, to target: Int) {
        guard let panel = slots[slot] else { return }
        slots[target] = panel
        slots[slot] = nil
    }

    func sample(round: Int) async {
        let before = updateCount
        await feed.measure(round: round)
        while updateCount < before + slots.compactMap({ $0 }).count {
            try? await Task.sleep(for: .milliseconds(1))
        }
    }

    func clear() {
        for slot in slots.indices {
            slots[slot]?.disappear()
            slots[slot] = nil
        }
    }

    var updateCount: Int { slots.reduce(0) { $0 + ($1?.updates ?? 0) } }
    var occupied: Int { slots.filter { $0 != nil }.count }
}

@main
struct Greenhouse {
    @MainActor
    static func main() async {
        let board = Dashboard()
        let tours = [["ferns", "orchids", "cacti"], ["moss", "palms", "lilies"],
                     ["citrus", "vines", "herbs"], ["tomato", "pepper", "melon"]]
        for (round, tour) in tours.enumerated() {
            for (slot, zone) in tour.enumerated() {
                await board.place(zone, in: slot)
            }
            await board.sample(round: round)
            if round % 2 == 1 {
                board.promote(from: 2, to: 0)
            }
        }
        let kept = board.occupied
        board.clear()
        try? await Task.sleep(for: .milliseconds(60))
        print("panels shown: \(board.shown), on the last tour: \(kept)")
    }
}
