import Foundation

// Support tool: follows requests through the combined log of several services and reports
// how each of them ended.

struct LogStore {
    private(set) var lines: [String] = []
    private let capacity: Int

    init(capacity: Int) { self.capacity = capacity }

    mutating func append(_ line: String) {
        lines.append(line)
        if lines.count > capacity { lines.removeFirst(lines.count - capacity) }
    }
}

final class PatternLibrary {
    private var compiled: [String: NSRegularExpression] = [:]
    private(set) var lookups = 0

    /// Compiling an expression is expensive, so each pattern is compiled once.
    func expression(_ pattern: String) throws -> NSRegularExpression {
        lookups += 1
        if let known = compiled[pattern] { return known }
        let fresh = try NSRegularExpression(pattern: pattern, options: [.caseInsensitive])
        compiled[pattern] = fresh
        return fresh
    }
}

enum Ending: String, CaseIterable { case answered, failed, abandoned }

struct TraceSearch {
    let library: PatternLibrary
    private(set) var endings: [Ending: Int] = [:]
    private(set) var hops = 0

    init(library: PatternLibrary) { self.library = library }

    mutating func follow(_ request: String, in store: LogStore) throws {
        let escaped = NSRegularExpression.escapedPattern(for: request)
        let line = try library.expression("\\[\(escaped)\\] (\\w+): (.*)$")
        let status = try library.expression("status=(\\d{3})")
        var last: String?
        for text in store.lines {
            let range = NSRange(text.startIndex..., in: text)
            guard let match = line.firstMatch(in: text, range: range),
                  let detail = Range(match.range(at: 2), in: text) else { continue }
            hops += 1
            last = String(text[detail])
        }
        guard let last else {
            endings[.abandoned, default: 0] += 1
            return
        }
        let range = NSRange(last.startIndex..., in: last)
        if let match = status.firstMatch(in: last, range: range), let code = Range(match.range(at: 1), in: last) {
            endings[last[code] < "400" ? .answered : .failed, default: 0] += 1
        } else {
            endings[.abandoned, default: 0] += 1
        }
    }

    var report: String {
        Ending.allCases.map { "\($0.rawValue) \(endings[$0] ?? 0)" }.joined(separator: ", ") + ", hops \(hops)"
    }
}

struct Traffic {
    private var serial = 4000
    private let services = ["edge", "auth", "cart", "billing"]

    mutating func request() -> (id: String, lines: [String]) {
        serial += 1
        let id = "req-\(String(serial, radix: 16))"
        let reached = serial % 7 == 0 ? 2 : services.count
        var lines = services.prefix(reached).map { "12:00:\(serial % 60) [\(id)] \($0): forwarded in \(serial % 13)ms" }
        if reached == services.count {
            lines.append("12:00:\(serial % 60) [\(id)] edge: done status=\(serial % 11 == 0 ? 503 : 200)")
        }
        return (id, lines)
    }
}

var store = LogStore(capacity: 30)
var traffic = Traffic()
var search = TraceSearch(library: PatternLibrary())

for round in 0..<100 {
    var ids: [String] = []
    for _ in 0..<6 {
        let (id, lines) = traffic.request()
        ids.append(id)
        lines.forEach { store.append($0) }
    }
    for id in ids { try search.follow(id, in: store) }
    if round % 50 == 49 { print("round \(round + 1): \(search.report)") }
    Thread.sleep(forTimeInterval: 0.009)
}
print("lookups \(search.library.lookups)")
