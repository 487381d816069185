import Foundation

// logscan: loads an access log once, indexes it by status class, host and
// path prefix, and then answers a list of operator questions.

final class LogEntry {
    let timestamp: Int
    let host: String
    let method: String
    let path: String
    let status: Int
    let millis: Int

    init(timestamp: Int, host: String, method: String, path: String, status: Int, millis: Int) {
        self.timestamp = timestamp
        self.host = host
        self.method = method
        self.path = path
        self.status = status
        self.millis = millis
    }
}

enum LogParseError: Error { case malformed(line: Int) }

struct LogParser {
    func parse(_ line: Substring, number: Int) throws -> LogEntry {
        let parts = line.split(separator: " ")
        guard parts.count == 6, let timestamp = Int(parts[0]), let status = Int(parts[4]), parts[5].hasSuffix("ms"),
              let millis = Int(parts[5].dropLast(2)) else { throw LogParseError.malformed(line: number) }
        return LogEntry(timestamp: timestamp, host: String(parts[1]), method: String(parts[2]), path: String(parts[3]), status: status, millis: millis)
    }
}

final class LogStore {
    private var entries: [LogEntry] = []
    private var byStatusClass: [Int: [LogEntry]] = [:]
    private var byHost: [String: [LogEntry]] = [:]
    private var byPrefix: [String: [LogEntry]] = [:]
    private(set) var malformed: [Int] = []

    func ingest(_ text: String) {
        let parser = LogParser()
        var number = 0
        for line in text.split(separator: "\n") {
            number += 1
            do {
                add(try parser.parse(line, number: number))
            } catch LogParseError.malformed(let line) {
                malformed.append(line)
            } catch {
                continue
            }
        }
        entries.sort { $0.timestamp < $1.timestamp }
    }

    private func add(_ entry: LogEntry) {
        entries.append(entry)
        byStatusClass[entry.status / 100, default: []].append(entry)
        byHost[entry.host, default: []].append(entry)
        let prefix = entry.path.split(separator: "/").first.map(String.init) ?? ""
        byPrefix[prefix, default: []].append(entry)
    }

    var count: Int { entries.count }

    func run(_ query: Query) -> [LogEntry] {
        var source = entries
        if let status = query.statusClass { source = byStatusClass[status] ?? [] }
        if let host = query.host, (byHost[host]?.count ?? 0) < source.count { source = byHost[host] ?? [] }
        if let prefix = query.prefix, (byPrefix[prefix]?.count ?? 0) < source.count { source = byPrefix[prefix] ?? [] }
        return source.filter(query.matches)
    }
}

struct Query {
    var statusClass: Int?
    var host: String?
    var prefix: String?
    var slowerThan = 0
    var window: Range<Int>?

    func matches(_ entry: LogEntry) -> Bool {
        if let statusClass, entry.status / 100 != statusClass { return false }
        if let host, entry.host != host { return false }
        if let prefix, !entry.path.hasPrefix("/\(prefix)") { return false }
        if let window, !window.contains(entry.timestamp) { return false }
        return entry.millis > slowerThan
    }
}

struct Percentiles {
    let p50: Int, p95: Int, p99: Int
    init(_ entries: [LogEntry]) {
        let sorted = entries.map(\.millis).sorted()
        func at(_ fraction: Double) -> Int { sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(Double(sorted.count) * fraction))] }
        p50 = at(0.50)
        p95 = at(0.95)
        p99 = at(0.99)
    }
}

func generateLog(lines: Int) -> String {
    let methods = ["GET", "GET", "GET", "POST", "PUT"]
    let sections = ["api", "static", "admin", "search", "health"]
    var text = ""
    text.reserveCapacity(lines * 48)
    var x: UInt32 = 88_172_645
    for line in 0..<lines {
        x ^= x << 13
        x ^= x >> 17
        x ^= x << 5
        let status = x % 50 == 0 ? 503 : x % 17 == 0 ? 404 : x % 9 == 0 ? 302 : 200
        let section = sections[Int(x >> 7) % sections.count]
        if line % 4001 == 4000 {
            text += "-- rotated --\n"
        } else {
            text += "\(1_700_000_000 + line / 3) web\(x >> 5 & 15) \(methods[Int(x >> 3) % methods.count]) /\(section)/\(x >> 11 & 255) \(status) \(1 + x >> 20 & 1023)ms\n"
        }
    }
    return text
}

let store = LogStore()
store.ingest(generateLog(lines: 120_000))
print("entries \(store.count), malformed \(store.malformed.count)")

var report: [String] = []
for host in 0..<16 {
    let failures = store.run(Query(statusClass: 5, host: "web\(host)"))
    let all = store.run(Query(host: "web\(host)"))
    let latency = Percentiles(all)
    report.append("web\(host): \(failures.count)/\(all.count) failed, p95 \(latency.p95)")
}
for prefix in ["api", "admin", "search"] {
    let slow = store.run(Query(prefix: prefix, slowerThan: 900))
    let latency = Percentiles(slow)
    report.append("/\(prefix): \(slow.count) slow, p50 \(latency.p50), p99 \(latency.p99)")
}
var peak = (start: 0, errors: 0)
for start in stride(from: 1_700_000_000, to: 1_700_040_000, by: 60) {
    let errors = store.run(Query(statusClass: 5, window: start..<(start + 60))).count
    if errors > peak.errors { peak = (start, errors) }
}
report.append("worst minute at \(peak.start) with \(peak.errors) errors")
for line in report.suffix(6) { print(line) }
