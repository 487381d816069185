import Foundation

enum RejectReason: String { case columns, amount, date }

final class Row {
    let line: Int
    let fields: [String]
    init(line: Int, text: String) {
        self.line = line
        fields = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }
}

final class Reject {
    let row: Row
    let reason: RejectReason
    init(_ row: Row, _ reason: RejectReason) {
        self.row = row
        self.reason = reason
    }
}

final class Customer {
    let key: String
    private(set) var total = 0
    private(set) var orders = 0
    private(set) var lastDay = 0
    init(key: String) { self.key = key }
    func merge(amount: Int, day: Int) {
        total += amount
        orders += 1
        lastDay = max(lastDay, day)
    }
}

final class RowQueue {
    private var items: [Row] = []
    private var head = 0
    private var finished = false
    private let condition = NSCondition()
    private(set) var longest = 0

    func push(_ r: Row) {
        condition.lock()
        items.append(r)
        longest = max(longest, items.count - head)
        condition.signal()
        condition.unlock()
    }

    func finish() {
        condition.lock()
        finished = true
        condition.broadcast()
        condition.unlock()
    }

    func pop() -> Row? {
        condition.lock()
        defer { condition.unlock() }
        while head == items.count && !finished { condition.wait() }
        guard head < items.count else { return nil }
        let r = items[head]
        head += 1
        if head > 64 {
            items.removeFirst(head)
            head = 0
        }
        return r
    }
}

final class Database {
    private var customers: [String: Customer] = [:]
    private var rejects: [Reject] = []
    private let lock = NSLock()

    func upsert(_ key: String, amount: Int, day: Int) {
        lock.lock()
        defer { lock.unlock() }
        let c: Customer
        if let known = customers[key] {
            c = known
        } else {
            c = Customer(key: key)
            customers[key] = c
        }
        c.merge(amount: amount, day: day)
    }

    func refuse(_ row: Row, _ reason: RejectReason) {
        lock.lock()
        rejects.append(Reject(row, reason))
        lock.unlock()
    }

    func report() {
        let best = customers.values.sorted { ($0.total, $0.key) > ($1.total, $1.key) }.prefix(5)
        let all = customers.values.reduce(0) { $0 + $1.total }
        print("customers \(customers.count) turnover \(all)")
        for c in best { print("  \(c.key) \(c.total) in \(c.orders) orders, last day \(c.lastDay)") }
        for (reason, list) in Dictionary(grouping: rejects, by: { $0.reason }).sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let lines = list.map { $0.row.line }.sorted()
            print("  rejected for \(reason.rawValue): \(lines.count), first line \(lines[0]), last line \(lines[lines.count - 1])")
        }
    }
}

final class Reader {
    private let queue: RowQueue
    init(queue: RowQueue) { self.queue = queue }

    func read(lines: Int) {
        for n in 1...lines {
            queue.push(Row(line: n, text: Reader.line(n)))
            if n % 100 == 0 { usleep(18_000) }
        }
        queue.finish()
    }

    private static func line(_ n: Int) -> String {
        switch n % 211 {
        case 17: return "c\(n)"
        case 90: return "c\(n % 800),x\(n),\(n % 365)"
        case 150: return "c\(n % 800),\(n),never"
        default: return "c\((n * 7919) % 800),\(n * 13 % 500),\(n % 365)"
        }
    }
}

final class Writer {
    private let queue: RowQueue
    private let database: Database
    private(set) var written = 0

    init(queue: RowQueue, database: Database) {
        self.queue = queue
        self.database = database
    }

    func drain() {
        while let row = queue.pop() {
            handle(row)
            if row.line % 4 == 0 { usleep(1_500) }
        }
    }

    private func handle(_ row: Row) {
        guard row.fields.count == 3 else { return database.refuse(row, .columns) }
        guard let amount = Int(row.fields[1]) else { return database.refuse(row, .amount) }
        guard let day = Int(row.fields[2]) else { return database.refuse(row, .date) }
        database.upsert(row.fields[0], amount: amount, day: day)
        written += 1
    }
}

func importAll() {
    let queue = RowQueue()
    let database = Database()
    let writers = (0..<2).map { _ in Writer(queue: queue, database: database) }
    let group = DispatchGroup()
    for w in writers {
        DispatchQueue.global().async(group: group) { w.drain() }
    }
    Reader(queue: queue).read(lines: 6000)
    group.wait()
    print("rows written \(writers.reduce(0) { $0 + $1.written }), longest queue \(queue.longest)")
    database.report()
}

importAll()
