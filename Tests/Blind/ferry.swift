import Foundation
import Synchronization

struct Notice: Sendable {
    let route: String
    let delayMinutes: Int
}

/// Hands out notices of the port authority to all listeners.
final class NoticeHub: Sendable {
    static let shared = NoticeHub()
    private let outlets = Mutex<[AsyncStream<Notice>.Continuation]>([])

    func notices() -> AsyncStream<Notice> {
        let (stream, continuation) = AsyncStream.makeStream(of: Notice.self, bufferingPolicy: .bufferingNewest(8))
        outlets.withLock { $0.append(continuation) }
        return stream
    }

    func publish(_ notice: Notice) {
        let current = outlets.withLock { $0 }
        for outlet in current { outlet.yield(notice) }
    }
}

/// The board on a ferry's car deck during one crossing.
final class DeckDisplay: @unchecked Sendable {
    let crossing: Int
    let route: String
    private let rows = Mutex<[String]>([])

    init(crossing: Int, route: String) {
        self.crossing = crossing
        self.route = route
    }

    func switchOn() {
        let incoming = NoticeHub.shared.notices()
        Task {
            for await notice in incoming {
                self.show(notice)
            }
        }
    }

    private func show(_ notice: Notice) {
        guard notice.route == route else { return }
        rows.withLock { lines in
            lines.append("crossing \(crossing): \(notice.delayMinutes) min late")
            if lines.count > 4 { lines.removeFirst() }
        }
    }

    var visibleRows: Int { rows.withLock { $0.count } }
}

final class Ferry {
    let route: String
    private var display: DeckDisplay?
    private(set) var crossings = 0

    init(route: String) { self.route = route }

    func depart() {
        crossings += 1
        let board = DeckDisplay(crossing: crossings, route: route)
        board.switchOn()
        display = board
    }

    func arrive() -> Int {
        let shown = display?.visibleRows ?? 0
        display = nil
        return shown
    }
}

let fleet = ["north", "island", "sound", "cape"].map(Ferry.init)
var rowsShown = 0
for hour in 0..<12 {
    for ferry in fleet { ferry.depart() }
    for minute in 0..<5 {
        let route = fleet[(hour + minute) % fleet.count].route
        NoticeHub.shared.publish(Notice(route: route, delayMinutes: 3 + minute))
        try await Task.sleep(for: .milliseconds(8))
    }
    for ferry in fleet { rowsShown += ferry.arrive() }
}
let crossings = fleet.reduce(0) { $0 + $1.crossings }
print("\(crossings) crossings, notices shown: \(rowsShown > 0)")
