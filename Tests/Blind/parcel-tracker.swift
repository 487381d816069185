import Foundation

enum Stage: Int {
    case booked, collected, sorting, delivered, recalled
}

final class Courier: @unchecked Sendable {
    private let lock = NSLock()
    private var stages: [String: Stage] = [:]

    func book(_ code: String) {
        lock.withLock { stages[code] = .booked }
    }

    func stage(of code: String) -> Stage? {
        lock.withLock { stages[code] }
    }

    func advance() {
        lock.withLock {
            for (code, stage) in stages where stage != .recalled {
                stages[code] = Stage(rawValue: min(stage.rawValue + 1, Stage.delivered.rawValue))
            }
        }
    }

    func recall(_ code: String) {
        lock.withLock { stages[code] = .recalled }
    }
}

final class ParcelWatch: @unchecked Sendable {
    let code: String
    let recipient: String
    private let courier: Courier
    private let lock = NSLock()
    private var seen: [Stage] = []
    private var finished = false

    init(code: String, recipient: String, courier: Courier) {
        self.code = code
        self.recipient = recipient
        self.courier = courier
    }

    func start() {
        Task.detached(priority: .utility) {
            while let stage = self.courier.stage(of: self.code) {
                self.record(stage)
                if stage == .delivered {
                    break
                }
                try? await Task.sleep(for: .milliseconds(4))
            }
            self.complete()
        }
    }

    private func record(_ stage: Stage) {
        lock.withLock {
            if seen.last != stage { seen.append(stage) }
        }
    }

    private func complete() {
        lock.withLock { finished = true }
    }

    var isFinished: Bool { lock.withLock { finished } }
    var history: [Stage] { lock.withLock { seen } }
}

struct TrackingDesk {
    let courier: Courier
    private var watches: [ParcelWatch] = []
    private(set) var notices: [String] = []

    init(courier: Courier) {
        self.courier = courier
    }

    mutating func accept(_ recipient: String, number: Int) {
        let code = "PX\(1000 + number)"
        courier.book(code)
        let watch = ParcelWatch(code: code, recipient: recipient, courier: courier)
        watch.start()
        watches.append(watch)
    }

    mutating func cancelOrder(of recipient: String) {
        guard let index = watches.firstIndex(where: { $0.recipient == recipient }) else { return }
        let watch = watches.remove(at: index)
        courier.recall(watch.code)
        notices.append("\(watch.code) returned to sender")
    }

    mutating func sweep() {
        for watch in watches where watch.isFinished {
            notices.append("\(watch.code) handed to \(watch.recipient)")
        }
        watches.removeAll { $0.isFinished }
    }

    var open: Int { watches.count }
}

let courier = Courier()
var desk = TrackingDesk(courier: courier)
for (number, name) in ["Ines", "Jakob", "Karla", "Lars", "Mona", "Nils", "Olga", "Piet", "Rosa"].enumerated() {
    desk.accept(name, number: number)
}
try? await Task.sleep(for: .milliseconds(20))
courier.advance()
desk.cancelOrder(of: "Lars")

while desk.open > 0 {
    courier.advance()
    try? await Task.sleep(for: .milliseconds(15))
    desk.sweep()
}
try? await Task.sleep(for: .milliseconds(12))
print("notices: \(desk.notices.count)")
print(desk.notices.sorted().joined(separator: "\n"))
