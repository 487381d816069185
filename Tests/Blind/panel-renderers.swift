import Foundation
import Observation

@MainActor
@Observable
final class Gauge {
    let tag: String
    var pressure = 0
    var temperature = 20

    init(tag: String) { self.tag = tag }

    func apply(_ sample: PlantSample) {
        pressure = sample.pressure
        if sample.temperature != temperature { temperature = sample.temperature }
    }
}

struct PlantSample {
    let pressure: Int
    let temperature: Int

    static func at(tick: Int, gauge: Int) -> PlantSample {
        PlantSample(pressure: (tick * 13 + gauge * 29) % 240, temperature: 20 + (tick / 10 + gauge) % 15)
    }
}

struct PanelLayout {
    let columns: Int
    let showsTemperature: Bool
}

@MainActor
final class PanelRenderer {
    let id: Int
    private let gauge: Gauge
    private let layout: PanelLayout
    private var cells: [String] = []
    private(set) var lastFrame = ""

    init(id: Int, gauge: Gauge, layout: PanelLayout) {
        self.id = id
        self.gauge = gauge
        self.layout = layout
    }

    func render() {
        withObservationTracking {
            draw()
        } onChange: {
            Task { @MainActor in
                self.render()
            }
        }
    }

    private func draw() {
        cells.removeAll(keepingCapacity: true)
        let filled = gauge.pressure * layout.columns / 240
        for column in 0..<layout.columns {
            cells.append(column < filled ? "#" : ".")
        }
        if layout.showsTemperature { cells.append(" \(gauge.temperature)C") }
        lastFrame = cells.joined()
    }
}

@MainActor
final class ControlRoom {
    let gauges: [Gauge]
    private var open: [Int: PanelRenderer] = [:]
    private var nextID = 0
    private(set) var opened = 0

    init(gaugeTags: [String]) {
        gauges = gaugeTags.map { Gauge(tag: $0) }
    }

    func openPanel(on gauge: Int) -> Int {
        nextID += 1
        opened += 1
        let layout = PanelLayout(columns: 12 + gauge * 2, showsTemperature: nextID % 2 == 0)
        let panel = PanelRenderer(id: nextID, gauge: gauges[gauge], layout: layout)
        panel.render()
        open[nextID] = panel
        return nextID
    }

    func closePanel(_ id: Int) {
        open[id] = nil
    }

    func sample(tick: Int) {
        for (index, gauge) in gauges.enumerated() {
            gauge.apply(.at(tick: tick, gauge: index))
        }
    }

    var frames: [String] {
        open.values.sorted { $0.id < $1.id }.map { "\($0.id)[\($0.lastFrame)]" }
    }
}

let room = ControlRoom(gaugeTags: ["boiler", "condenser", "feed", "drum"])
let pinned = [room.openPanel(on: 0), room.openPanel(on: 2)]
var visitors: [Int] = []

for tick in 0..<75 {
    room.sample(tick: tick)
    for _ in 0..<2 { visitors.append(room.openPanel(on: tick % 4)) }
    try await Task.sleep(for: .milliseconds(9))
    if visitors.count >= 6 {
        for id in visitors.prefix(3) { room.closePanel(id) }
        visitors.removeFirst(3)
    }
}

for id in visitors { room.closePanel(id) }
room.sample(tick: 200)
try await Task.sleep(for: .milliseconds(120))
print("opened \(room.opened), pinned \(pinned.count)")
print(room.frames.joined(separator: " "))
