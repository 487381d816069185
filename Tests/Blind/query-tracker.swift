import Foundation

// Query log of a small SQL proxy: running queries are tracked by id, closed ones go into a
// histogram, and the slowest fifty remain for the report.

struct QueryShape: Hashable {
    let verb: String
    let table: String

    init(sql: String) {
        let words = sql.split(separator: " ").map { $0.lowercased() }
        verb = words.first ?? "?"
        let marker = verb == "select" ? "from" : verb == "insert" ? "into" : verb
        table = words.firstIndex(of: marker).flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil } ?? "?"
    }
}

final class QueryTrace {
    let id: Int
    let sql: String
    let shape: QueryShape
    private(set) var micros = 0

    init(id: Int, sql: String) {
        self.id = id
        self.sql = sql
        shape = QueryShape(sql: sql)
    }

    func finish(micros: Int) { self.micros = micros }
}

struct SlowList {
    private var traces: [QueryTrace] = []
    private let capacity: Int

    init(capacity: Int) { self.capacity = capacity }

    mutating func offer(_ trace: QueryTrace) {
        if traces.count == capacity, let last = traces.last, last.micros >= trace.micros { return }
        var low = 0, high = traces.count
        while low < high {
            let middle = (low + high) / 2
            if traces[middle].micros >= trace.micros { low = middle + 1 } else { high = middle }
        }
        traces.insert(trace, at: low)
        if traces.count > capacity { traces.removeLast() }
    }

    func top(_ count: Int) -> [QueryTrace] { Array(traces.prefix(count)) }
}

actor QueryLog {
    private var running: [Int: QueryTrace] = [:]
    private var histogram: [QueryShape: (count: Int, micros: Int)] = [:]
    private var slow = SlowList(capacity: 50)
    private var nextID = 1

    func begin(_ sql: String) -> Int {
        defer { nextID += 1 }
        running[nextID] = QueryTrace(id: nextID, sql: sql)
        return nextID
    }

    func end(_ id: Int, micros: Int) {
        guard let trace = running.removeValue(forKey: id) else { return }
        trace.finish(micros: micros)
        let old = histogram[trace.shape] ?? (0, 0)
        histogram[trace.shape] = (old.count + 1, old.micros + micros)
        slow.offer(trace)
    }

    func statistics() -> String {
        let total = histogram.values.reduce(0) { $0 + $1.count }
        let busiest = histogram.max { ($0.value.micros, $1.key.table) < ($1.value.micros, $0.key.table) }
        let name = busiest.map { "\($0.key.verb) \($0.key.table)" } ?? "-"
        return "running \(running.count), done \(total), busiest \(name)"
    }

    func report() -> [String] {
        slow.top(3).map { "\($0.micros)us  \($0.sql)" }
    }
}

struct Engine {
    func execute(_ sql: String) -> Int {
        var plan: UInt64 = 5381
        for _ in 0..<30 { for byte in sql.utf8 { plan = plan &* 33 ^ UInt64(byte) } }
        return Int(plan % 3_000) + 80
    }
}

let log = QueryLog()
let engine = Engine()
let tables = ["customers", "orders", "items", "payments", "events"]

for round in 0..<120 {
    await withTaskGroup(of: Void.self) { group in
        for slot in 0..<16 {
            let serial = round * 16 + slot
            let table = tables[serial % tables.count]
            let sql = slot % 3 == 0 ? "INSERT INTO \(table) VALUES (\(serial))"
                : slot % 3 == 1 ? "UPDATE \(table) SET state = \(serial % 9) WHERE id = \(serial)"
                : "SELECT * FROM \(table) WHERE id = \(serial)"
            group.addTask {
                let id = await log.begin(sql)
                await log.end(id, micros: engine.execute(sql))
            }
        }
    }
    if round % 40 == 39 { print(await log.statistics()) }
    try await Task.sleep(nanoseconds: 6_000_000)
}
await log.report().forEach { print($0) }
