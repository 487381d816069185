import Foundation
import Observation

@Observable
final class Exhibition {
    nonisolated(unsafe) static let current = Exhibition()
    var title = "Still Life"
    var brightness = 60
    var visitors = 0
}

/// A digital frame in the entrance hall that shows the running exhibition.
final class FrameView: @unchecked Sendable {
    let slot: Int
    private(set) var text = ""
    private(set) var redraws = 0
    private var needsRedraw = true
    private var palette: [Int]

    init(slot: Int) {
        self.slot = slot
        palette = (0..<40).map { $0 * slot }
    }

    func redrawIfNeeded() {
        guard needsRedraw else { return }
        needsRedraw = false
        let exhibition = Exhibition.current
        withObservationTracking {
            text = "\(exhibition.title) @\(exhibition.brightness)"
            palette[redraws % palette.count] = exhibition.brightness
        } onChange: { [weak self] in
            self?.needsRedraw = true
        }
        redraws += 1
    }
}

final class EntranceHall {
    private var frames: [Int: FrameView] = [:]
    private(set) var hung = 0
    private(set) var redraws = 0
    private(set) var letters = 0

    func hang(_ slot: Int) {
        takeDown(slot)
        frames[slot] = FrameView(slot: slot)
        hung += 1
    }

    func takeDown(_ slot: Int) {
        guard let frame = frames.removeValue(forKey: slot) else { return }
        redraws += frame.redraws
        letters += frame.text.utf8.count
    }

    func refresh() {
        for slot in frames.keys.sorted() { frames[slot]?.redrawIfNeeded() }
    }

    func closeDown() {
        for slot in Array(frames.keys) { takeDown(slot) }
    }
}

let hall = EntranceHall()
let titles = ["Still Life", "Portraits", "Seascapes", "Etchings", "Prints of the North"]
for hour in 0..<120 {
    hall.hang(hour % 6)
    hall.refresh()
    Exhibition.current.brightness = 40 + (hour * 13) % 50
    hall.refresh()
    Exhibition.current.visitors += 3
    if hour % 12 == 11 {
        Exhibition.current.title = titles[(hour / 12) % titles.count]
        hall.refresh()
    }
    if hour % 2 == 0 { usleep(9_000) }
}
hall.closeDown()
print("hung \(hall.hung) frames, \(hall.redraws) redraws, \(hall.letters) letters, \(Exhibition.current.visitors) visitors")
