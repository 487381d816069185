import Foundation

final class TicketGate: @unchecked Sendable {
    private let lock = NSLock()
    private var waiting: [(id: Int, continuation: UnsafeContinuation<Void, Never>)] = []

    func pass(_ id: Int) async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
                lock.withLock { waiting.append((id, continuation)) }
            }
        } onCancel: {
            forget(id)
        }
    }

    func open(_ count: Int) {
        let released = lock.withLock { () -> [UnsafeContinuation<Void, Never>] in
            let group = waiting.prefix(count).map { $0.continuation }
            waiting.removeFirst(group.count)
            return group
        }
        released.forEach { $0.resume() }
    }

    private func forget(_ id: Int) {
        lock.withLock { waiting.removeAll { $0.id == id } }
    }

    var queueLength: Int { lock.withLock { waiting.count } }
}

final class Badge: @unchecked Sendable {
    let code: String
    let print: [UInt8]
    init(code: String) {
        self.code = code
        self.print = [UInt8](repeating: 1, count: 2_048)
    }
}

final class Visitor: @unchecked Sendable {
    let id: Int
    let badge: Badge
    init(id: Int) {
        self.id = id
        self.badge = Badge(code: "V-\(id)")
    }

    func enter(through gate: TicketGate, hall: Hall) async {
        await gate.pass(id)
        await hall.admit(badge)
    }
}

actor Hall {
    private(set) var admitted = 0
    private var lastCodes: [String] = []

    func admit(_ badge: Badge) {
        admitted += 1
        lastCodes.append(badge.code)
        if lastCodes.count > 10 { lastCodes.removeFirst() }
    }
}

@main
struct AsyncGateApp {
    static let gate = TicketGate()
    static let hall = Hall()

    static func main() async {
        var leftQueue = 0
        for minute in 0..<25 {
            var arrivals: [(Int, Task<Void, Never>)] = []
            for n in 0..<12 {
                let visitor = Visitor(id: minute * 12 + n)
                arrivals.append((visitor.id, Task { await visitor.enter(through: gate, hall: hall) }))
            }
            for _ in 0..<500 where gate.queueLength < 12 { try? await Task.sleep(nanoseconds: 2_000_000) }
            for (id, task) in arrivals where id % 12 == 4 || id % 60 == 10 {
                task.cancel()
                leftQueue += 1
            }
            try? await Task.sleep(nanoseconds: 20_000_000)
            gate.open(12)
            try? await Task.sleep(nanoseconds: 10_000_000)
        }
        try? await Task.sleep(nanoseconds: 100_000_000)
        print("admitted \(await hall.admitted), left the queue \(leftQueue)")
    }
}
