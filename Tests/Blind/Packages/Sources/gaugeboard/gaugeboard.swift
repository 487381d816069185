import CoreMetrics
import Foundation
import Logging
import Metrics

final class CounterCell: CounterHandler, @unchecked Sendable {
    let name: String
    private let lock = NSLock()
    private var value: Int64 = 0

    init(name: String) { self.name = name }

    func increment(by amount: Int64) { lock.withLock { value += amount } }
    func reset() { lock.withLock { value = 0 } }
    var current: Int64 { lock.withLock { value } }
}

final class TimerCell: TimerHandler, @unchecked Sendable {
    let name: String
    private let lock = NSLock()
    private var durations: [Int64] = []

    init(name: String) { self.name = name }

    func recordNanoseconds(_ duration: Int64) {
        lock.withLock {
            durations.append(duration)
            if durations.count > 64 { durations.removeFirst() }
        }
    }
}

/// Every handler that was ever made, by its full name.
final class Board: MetricsFactory, @unchecked Sendable {
    private let lock = NSLock()
    private var counters: [String: CounterCell] = [:]
    private var timers: [String: TimerCell] = [:]

    private func key(_ label: String, _ dimensions: [(String, String)]) -> String {
        label + dimensions.map { "{\($0.0)=\($0.1)}" }.joined()
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> CounterHandler {
        let name = key(label, dimensions)
        return lock.withLock {
            if let cell = counters[name] { return cell }
            let cell = CounterCell(name: name)
            counters[name] = cell
            return cell
        }
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> TimerHandler {
        let name = key(label, dimensions)
        return lock.withLock {
            if let cell = timers[name] { return cell }
            let cell = TimerCell(name: name)
            timers[name] = cell
            return cell
        }
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> RecorderHandler {
        NOOPMetricsHandler.instance
    }

    func destroyCounter(_ handler: CounterHandler) {
        guard let cell = handler as? CounterCell else { return }
        lock.withLock { _ = counters.removeValue(forKey: cell.name) }
    }
    func destroyTimer(_ handler: TimerHandler) {
        guard let cell = handler as? TimerCell else { return }
        lock.withLock { _ = timers.removeValue(forKey: cell.name) }
    }
    func destroyRecorder(_ handler: RecorderHandler) {}

    func total(of label: String) -> Int64 {
        lock.withLock { counters.values.filter { $0.name.hasPrefix(label) }.reduce(0) { $0 + $1.current } }
    }
}

struct PrintJob {
    let id: String
    let printer: String
    let pages: Int
}

final class PrintQueue {
    private let log: Logger
    private let requests = Counter(label: "print.requests")
    private let duration = Metrics.Timer(label: "print.duration")

    init(log: Logger) { self.log = log }

    func run(_ job: PrintJob) {
        let start = DispatchTime.now().uptimeNanoseconds
        requests.increment()
        let pages = Counter(
            label: "print.pages",
            dimensions: [("printer", job.printer), ("job", job.id)]
        )
        for _ in 0..<job.pages { pages.increment() }
        log.debug("job done", metadata: ["job": "\(job.id)"])
        duration.recordNanoseconds(Int64(DispatchTime.now().uptimeNanoseconds - start))
    }
}

@main
struct GaugeBoard {
    static func main() {
        let board = Board()
        MetricsSystem.bootstrap(board)
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = .warning
            return handler
        }
        let queue = PrintQueue(log: Logger(label: "print"))
        for number in 0..<1500 {
            queue.run(PrintJob(id: "job-\(number)", printer: "printer-\(number % 6)", pages: 1 + number % 8))
            if number % 50 == 0 { usleep(30_000) }
        }
        usleep(300_000)
        print("requests \(board.total(of: "print.requests")), pages \(board.total(of: "print.pages"))")
    }
}
