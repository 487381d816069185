import Foundation

enum Level: String { case debug, info, warn, error }

final class LogRecord {
    let number: Int
    let level: Level
    let service: String
    let message: String
    init(number: Int, level: Level, service: String, message: String) {
        self.number = number; self.level = level; self.service = service; self.message = message
    }
}

final class LineParser {
    func parse(_ line: String, number: Int) -> LogRecord? {
        let parts = line.split(separator: " ", maxSplits: 2)
        guard parts.count == 3, let level = Level(rawValue: String(parts[0])) else { return nil }
        return LogRecord(number: number, level: level, service: String(parts[1]), message: String(parts[2]))
    }
}

final class ProblemIndex {
    private var byService: [String: [LogRecord]] = [:]
    private var recent: [LogRecord] = []
    func add(_ r: LogRecord) {
        byService[r.service, default: []].append(r)
        recent.append(r)
        if recent.count > 50 { recent.removeFirst() }
    }
    var total: Int { byService.values.reduce(0) { $0 + $1.count } }
    func worst() -> (String, Int) {
        let e = byService.max { ($0.value.count, $0.key) < ($1.value.count, $1.key) }
        return (e?.key ?? "-", e?.value.count ?? 0)
    }
}

func makeLines(file: Int) -> [String] {
    let services = ["auth", "billing", "search", "mail", "edge"]
    return (0..<900).map { i in
        let k = (i * 7 + file * 13) % 20
        let level = k < 5 ? "debug" : k < 12 ? "info" : k < 17 ? "warn" : "error"
        if i % 101 == 100 { return "garbage" }
        return "\(level) \(services[(i * 3 + k) % 5]) request \(i) of file \(file) took \(k * 11) milliseconds"
    }
}

let parser = LineParser()
let index = ProblemIndex()
var scanned = 0
var skipped = 0

for file in 1...8 {
    var position = 0
    for line in makeLines(file: file) {
        position += 1
        guard let record = parser.parse(line, number: position) else { skipped += 1; continue }
        scanned += 1
        switch record.level {
        case .warn, .error: index.add(record)
        case .debug, .info: break
        }
    }
}
let worst = index.worst()
print("scanned \(scanned) skipped \(skipped) problems \(index.total) worst \(worst.0)=\(worst.1)")
