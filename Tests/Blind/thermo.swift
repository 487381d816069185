import Foundation
import Observation

@Observable
final class HouseModel {
    nonisolated(unsafe) static let shared = HouseModel()
    var target = 20.0
    var awayMode = false
}

/// Runs the posted model changes, once per frame.
final class FrameLoop {
    nonisolated(unsafe) static let main = FrameLoop()
    private var posted: [() -> Void] = []

    func post(_ work: @escaping () -> Void) { posted.append(work) }

    func runFrame() {
        let batch = posted
        posted.removeAll()
        for work in batch { work() }
    }
}

/// The panel that opens at a tap on a room.
final class RoomPanel: @unchecked Sendable {
    let room: String
    private(set) var caption = ""
    private(set) var renders = 0
    private var bars = [Double](repeating: 0, count: 24)

    init(room: String) { self.room = room }

    func render() {
        let model = HouseModel.shared
        withObservationTracking {
            let offset = room.utf8.count % 3
            caption = model.awayMode ? "\(room): away" : "\(room): \(model.target + Double(offset))"
            bars[renders % bars.count] = model.target
        } onChange: {
            FrameLoop.main.post { self.render() }
        }
        renders += 1
    }
}

final class WallTablet {
    private var front: RoomPanel?
    private(set) var opened = 0
    private(set) var captionLength = 0

    func open(_ room: String) {
        let panel = RoomPanel(room: room)
        panel.render()
        front = panel
        opened += 1
    }

    func close() {
        captionLength += front?.caption.utf8.count ?? 0
        front = nil
    }
}

let tablet = WallTablet()
let rooms = ["kitchen", "hall", "attic", "study", "nursery"]
for tap in 0..<80 {
    tablet.open(rooms[tap % rooms.count])
    FrameLoop.main.runFrame()
    if tap % 4 == 1 {
        HouseModel.shared.target = 18 + Double(tap % 9) / 2
        FrameLoop.main.runFrame()
    }
    if tap % 20 == 19 {
        HouseModel.shared.awayMode.toggle()
        FrameLoop.main.runFrame()
    }
    usleep(7_000)
    tablet.close()
}
print("opened \(tablet.opened) panels, \(tablet.captionLength) letters shown")
