import Dispatch
import Foundation
import OpenCombine
import OpenCombineDispatch

struct Reading {
    let bed: Int
    let moisture: Double
    let celsius: Double
}

/// All sensors of the house report through this one hub.
final class SensorHub {
    let readings = PassthroughSubject<Reading, Never>()
    let daylight = CurrentValueSubject<Bool, Never>(true)

    func sweep(beds: Int, round: Int) {
        for bed in 0..<beds {
            let moisture = 0.3 + 0.01 * Double((bed * 7 + round * 3) % 40)
            readings.send(Reading(bed: bed, moisture: moisture, celsius: 18 + Double((bed + round) % 9)))
        }
        if round % 5 == 0 { daylight.send(round % 10 == 0) }
    }
}

/// What the gardener's tablet shows for one bed.
final class BedViewModel {
    let bed: Int
    private(set) var headline = ""
    private(set) var warnings: [String] = []
    private(set) var lampOn = false
    private var cancellables = Set<AnyCancellable>()

    init(bed: Int, hub: SensorHub) {
        self.bed = bed

        hub.readings
            .filter { $0.bed == bed }
            .map { String(format: "%.0f%% at %.1f", $0.moisture * 100, $0.celsius) }
            .removeDuplicates()
            .sink { text in
                self.headline = text
            }
            .store(in: &cancellables)

        hub.readings
            .filter { $0.bed == bed && $0.moisture < 0.35 }
            .sink { [weak self] reading in
                self?.warn("bed \(reading.bed) is dry")
            }
            .store(in: &cancellables)

        hub.daylight
            .removeDuplicates()
            .sink { [weak self] day in
                self?.lampOn = !day
            }
            .store(in: &cancellables)
    }

    private func warn(_ text: String) {
        warnings.append(text)
        if warnings.count > 3 { warnings.removeFirst() }
    }

    var text: String { "bed \(bed): \(headline)\(lampOn ? " (lamp)" : "") \(warnings.count) warnings" }
}

/// The tablet shows one bed at a time; a swipe replaces the model.
final class Tablet {
    private let hub: SensorHub
    private var current: BedViewModel?
    private(set) var shown = 0

    init(hub: SensorHub) { self.hub = hub }

    func show(bed: Int) {
        current = BedViewModel(bed: bed, hub: hub)
        shown += 1
    }

    func turnOff() { current = nil }
    var screen: String { current?.text ?? "off" }
}

@main
struct Greenhouse {
    static func main() {
        let hub = SensorHub()
        let tablet = Tablet(hub: hub)
        let beds = 16
        var screens: [String] = []

        for round in 0..<60 {
            tablet.show(bed: round % beds)
            for sweep in 0..<4 {
                hub.sweep(beds: beds, round: round * 4 + sweep)
                usleep(3_000)
            }
            if round % 12 == 0 { screens.append(tablet.screen) }
        }
        tablet.turnOff()

        let evening = DispatchSemaphore(value: 0)
        let closing = Just("closing the greenhouse")
            .delay(for: .milliseconds(300), scheduler: DispatchQueue.global().ocombine)
            .sink { text in
                print(text)
                evening.signal()
            }
        evening.wait()
        closing.cancel()
        hub.sweep(beds: beds, round: 1000)
        print("\(tablet.shown) screens, e.g. \(screens.last ?? "-")")
    }
}
