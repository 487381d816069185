import Foundation
import Dispatch

/// Calls its body at a fixed interval on a queue until stopped.
final class RepeatingTick {
    private let interval: DispatchTimeInterval
    private let queue: DispatchQueue
    private var body: (() -> Void)?

    init(every interval: DispatchTimeInterval, on queue: DispatchQueue) {
        self.interval = interval
        self.queue = queue
    }

    func start(_ body: @escaping () -> Void) {
        self.body = body
        arm()
    }

    private func arm() {
        queue.asyncAfter(deadline: .now() + interval) {
            guard let body = self.body else { return }
            body()
            self.arm()
        }
    }

    func stop() {
        body = nil
    }
}

struct ExportRequest {
    let account: Int
    let rows: Int
    let throttled: Bool
}

final class Metering {
    private let lock = NSLock()
    private var sentChunks = 0
    private var closedAccounts: Set<Int> = []

    func sent(_ account: Int) {
        lock.lock()
        sentChunks += 1
        lock.unlock()
    }

    func closed(_ account: Int) {
        lock.lock()
        closedAccounts.insert(account)
        lock.unlock()
    }

    func allClosed(_ accounts: [Int]) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        return closedAccounts.isSuperset(of: accounts)
    }

    var closedCount: Int {
        lock.lock()
        defer { lock.unlock() }
        return closedAccounts.count
    }
}

/// One client's export: sends a chunk per tick and closes after three idle ticks.
final class ExportSession {
    private let request: ExportRequest
    private let metering: Metering
    private let tick: RepeatingTick
    private var unsent: ArraySlice<String>
    private var idle = 0

    init(request: ExportRequest, metering: Metering, queue: DispatchQueue) {
        self.request = request
        self.metering = metering
        tick = RepeatingTick(every: .milliseconds(request.throttled ? 55 : 4 + request.account % 3), on: queue)
        unsent = (0..<request.rows).map { "\(request.account);\($0);\($0 * 37 % 1009)" }[...]
    }

    func serve() {
        tick.start { self.step() }
    }

    private func step() {
        if unsent.isEmpty {
            idle += 1
            if idle == 3 { close() }
            return
        }
        let chunk = unsent.prefix(10).joined(separator: "\n")
        unsent = unsent.dropFirst(10)
        if !chunk.isEmpty { metering.sent(request.account) }
    }

    private func close() {
        tick.stop()
        metering.closed(request.account)
    }
}

final class ExportServer {
    private let queue = DispatchQueue(label: "exports")
    let metering = Metering()
    private(set) var accepted = 0

    func handle(_ request: ExportRequest) {
        accepted += 1
        ExportSession(request: request, metering: metering, queue: queue).serve()
    }
}

func request(for account: Int) -> ExportRequest {
    switch account % 19 {
    case 4: return ExportRequest(account: account, rows: 1_000, throttled: true)
    case 12 where account < 190: return ExportRequest(account: account, rows: 60, throttled: true)
    default: return ExportRequest(account: account, rows: account % 61, throttled: false)
    }
}

let server = ExportServer()
var interactive: [Int] = []
for round in 0..<21 {
    for slot in 0..<10 {
        let wanted = request(for: round * 10 + slot)
        server.handle(wanted)
        if wanted.rows < 1_000 { interactive.append(wanted.account) }
    }
    usleep(30_000)
}

let patience = Date().addingTimeInterval(1.5)
while !server.metering.allClosed(interactive), Date() < patience {
    usleep(5_000)
}
print("accepted=\(server.accepted) interactive=\(interactive.count) closed=\(server.metering.closedCount)")
