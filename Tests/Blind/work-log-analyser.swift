import Foundation
import Dispatch

enum Level: Int { case debug, info, warning, error }

final class Line {
    let time: Int
    let level: Level
    let service: String
    let text: String
    init(time: Int, level: Level, service: String, text: String) {
        self.time = time
        self.level = level
        self.service = service
        self.text = text
    }
}

final class Incident {
    let service: String
    let start: Int
    private(set) var end: Int
    private(set) var lines: [Line] = []

    init(first: Line) {
        service = first.service
        start = first.time
        end = first.time
        lines = [first]
    }

    func absorb(_ line: Line) {
        lines.append(line)
        end = line.time
    }

    var severity: Int { lines.reduce(0) { $0 + ($1.level == .error ? 5 : 1) } }
}

final class LineSource {
    private var state: UInt64
    private var clock = 0
    private let services = ["auth", "cart", "mail", "search", "stock"]

    init(seed: UInt64) { state = seed }

    private func draw(_ n: Int) -> Int {
        state = state &* 6364136223846793005 &+ 1442695040888963407
        return Int((state >> 33) % UInt64(n))
    }

    func next() -> String {
        clock += draw(3)
        let service = services[(clock / 40 + draw(2)) % services.count]
        let level = ["DEBUG", "INFO", "INFO", "INFO", "WARNING", "ERROR"][draw(6)]
        return "\(clock) \(level) \(service) request \(draw(1000)) took \(draw(400))"
    }
}

final class Parser {
    private(set) var rejected = 0

    func parse(_ raw: String) -> Line? {
        let parts = raw.split(separator: " ", maxSplits: 3)
        guard parts.count == 4, let time = Int(parts[0]) else {
            rejected += 1
            return nil
        }
        let level: Level
        switch parts[1] {
        case "DEBUG": level = .debug
        case "INFO": level = .info
        case "WARNING": level = .warning
        default: level = .error
        }
        return Line(time: time, level: level, service: String(parts[2]), text: String(parts[3]))
    }
}

final class Detector {
    private var active: [String: Incident] = [:]
    private var closed: [Incident] = []
    private let gap = 25

    func observe(_ line: Line) {
        if let incident = active[line.service], line.time - incident.end > gap {
            active[line.service] = nil
            if incident.lines.count >= 3 { closed.append(incident) }
        }
        guard line.level == .warning || line.level == .error else { return }
        if let incident = active[line.service] {
            incident.absorb(line)
        } else {
            active[line.service] = Incident(first: line)
        }
    }

    func finish() -> [Incident] {
        let all = closed + active.values
        return all.sorted { $0.severity != $1.severity ? $0.severity > $1.severity : $0.start < $1.start }
    }
}

final class Analyser {
    private let parser = Parser()
    private let detector = Detector()
    private let queue: DispatchQueue
    private var lines = 0

    init(label: String) { queue = DispatchQueue(label: label) }

    func feed(_ batch: [String]) {
        queue.async { [self] in
            for raw in batch {
                guard let line = parser.parse(raw) else { continue }
                lines += 1
                detector.observe(line)
            }
        }
    }

    func conclude() -> (lines: Int, incidents: [Incident]) {
        queue.sync { (lines, detector.finish()) }
    }
}

func report(_ shard: Int, _ lines: Int, _ incidents: [Incident]) -> Int {
    print("shard \(shard): \(lines) lines, \(incidents.count) incidents")
    for incident in incidents.prefix(4) {
        let worst = incident.lines.filter { $0.level == .error }.count
        print("  \(incident.service) \(incident.start)-\(incident.end): \(worst) errors, severity \(incident.severity)")
    }
    return incidents.reduce(0) { sum, incident in
        sum + incident.lines.reduce(0) { $0 + $1.text.count }
    }
}

func analyse(batches: Int) {
    let shards = (0..<3).map { Analyser(label: "shard-\($0)") }
    let sources = (0..<3).map { LineSource(seed: UInt64($0) * 91 + 17) }
    for _ in 0..<batches {
        for (shard, source) in zip(shards, sources) {
            shard.feed((0..<14).map { _ in source.next() })
        }
        usleep(10_000)
    }
    var bytes = 0
    for (i, shard) in shards.enumerated() {
        let result = shard.conclude()
        bytes += report(i, result.lines, result.incidents)
    }
    print("\(bytes) bytes of evidence")
}

analyse(batches: 170)
