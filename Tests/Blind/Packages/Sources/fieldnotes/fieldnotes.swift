import CoreMetrics
import Foundation
import Logging
import Metrics
import Yams

struct MeterSpec: Codable {
    var name: String
    var unit: String
    var sites: Int
}

struct FieldConfig: Codable {
    var meters: [MeterSpec]
    var keepLines: Int
}

final class MeterCell: MeterHandler, @unchecked Sendable {
    let name: String
    private let lock = NSLock()
    private var value = 0.0

    init(name: String) { self.name = name }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { lock.withLock { self.value = value } }
    func increment(by amount: Double) { lock.withLock { value += amount } }
    func decrement(by amount: Double) { lock.withLock { value -= amount } }
    var current: Double { lock.withLock { value } }
}

final class TallyCell: CounterHandler, @unchecked Sendable {
    let name: String
    private let lock = NSLock()
    private var count: Int64 = 0

    init(name: String) { self.name = name }
    func increment(by amount: Int64) { lock.withLock { count += amount } }
    func reset() { lock.withLock { count = 0 } }
}

final class Station: MetricsFactory, @unchecked Sendable {
    private let lock = NSLock()
    private var meters: [String: MeterCell] = [:]
    private var tallies: [String: TallyCell] = [:]

    private func key(_ label: String, _ dimensions: [(String, String)]) -> String {
        ([label] + dimensions.map { "\($0.0)=\($0.1)" }).joined(separator: ";")
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> MeterHandler {
        let name = key(label, dimensions)
        return lock.withLock {
            if let known = meters[name] { return known }
            let made = MeterCell(name: name)
            meters[name] = made
            return made
        }
    }
    func makeCounter(label: String, dimensions: [(String, String)]) -> CounterHandler {
        let name = key(label, dimensions)
        return lock.withLock {
            if let known = tallies[name] { return known }
            let made = TallyCell(name: name)
            tallies[name] = made
            return made
        }
    }
    func makeTimer(label: String, dimensions: [(String, String)]) -> TimerHandler { NOOPMetricsHandler.instance }
    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> RecorderHandler {
        NOOPMetricsHandler.instance
    }
    func destroyMeter(_ handler: MeterHandler) {
        if let cell = handler as? MeterCell { lock.withLock { meters[cell.name] = nil } }
    }
    func destroyCounter(_ handler: CounterHandler) {
        if let cell = handler as? TallyCell { lock.withLock { tallies[cell.name] = nil } }
    }
    func destroyTimer(_ handler: TimerHandler) {}
    func destroyRecorder(_ handler: RecorderHandler) {}

    var registered: (Int, Int) { lock.withLock { (meters.count, tallies.count) } }
}

/// The newest lines of the log, for the status page.
final class Notebook: @unchecked Sendable {
    private let lock = NSLock()
    private var lines: [String] = []
    private let limit: Int

    init(limit: Int) { self.limit = limit }
    func write(_ line: String) {
        lock.withLock {
            lines.append(line)
            if lines.count > limit { lines.removeFirst(lines.count - limit) }
        }
    }
    var count: Int { lock.withLock { lines.count } }
}

struct NotebookHandler: LogHandler {
    let label: String
    let notebook: Notebook
    var logLevel: Logger.Level = .info
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(
        level: Logger.Level, message: Logger.Message, metadata: Logger.Metadata?,
        source: String, file: String, function: String, line: UInt
    ) {
        notebook.write("\(level) \(label): \(message)")
    }
}

@main
struct FieldNotes {
    static func main() throws {
        let yaml = (0..<20).reduce("keepLines: 200\nmeters:\n") { text, number in
            text + "  - name: soil.\(number)\n    unit: percent\n    sites: 20\n"
        }
        let config = try YAMLDecoder().decode(FieldConfig.self, from: yaml)
        let station = Station()
        let notebook = Notebook(limit: config.keepLines)
        MetricsSystem.bootstrap(station)
        LoggingSystem.bootstrap { NotebookHandler(label: $0, notebook: notebook) }

        var meters: [Meter] = []
        for spec in config.meters {
            for site in 0..<spec.sites {
                meters.append(Meter(label: spec.name, dimensions: [("site", "\(site)"), ("unit", spec.unit)]))
            }
        }

        for walk in 0..<120 {
            let log = Logger(label: "walk-\(walk)")
            let steps = Counter(label: "steps", dimensions: [("walk", "\(walk)")])
            for stop in 0..<25 {
                meters[(walk * 13 + stop) % meters.count].set(Double(stop) * 0.4)
                steps.increment(by: 12)
                log.info("stop \(stop)")
            }
            steps.destroy()
            usleep(8_000)
        }
        usleep(300_000)
        let (live, tallies) = station.registered
        print("\(live) meters, \(tallies) tallies, \(notebook.count) lines")
    }
}
