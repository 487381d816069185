import Foundation

enum DatabaseError: Error { case broken, constraint, timeout }

final class Statement {
    let sql: String
    let plan: [Int]
    var executions = 0
    init(sql: String) {
        self.sql = sql
        plan = sql.utf8.map { Int($0) % 17 }
    }
    func execute(_ p: Int) -> Int {
        executions += 1
        return plan.reduce(p) { ($0 &* 7 &+ $1) & 0xffff }
    }
}

final class StatementCache {
    private var entries: [String: Statement] = [:]
    private var recent: [String] = []
    private let bound: Int
    private(set) var prepared = 0
    init(bound: Int) { self.bound = bound }

    func statement(_ sql: String) -> Statement {
        if let s = entries[sql] {
            recent.removeAll { $0 == sql }
            recent.append(sql)
            return s
        }
        let s = Statement(sql: sql)
        prepared += 1
        entries[sql] = s
        recent.append(sql)
        if recent.count > bound { entries[recent.removeFirst()] = nil }
        return s
    }
}

final class Connection {
    let id: Int
    private let cache = StatementCache(bound: 12)
    private(set) var uses = 0
    private(set) var isBroken = false
    init(id: Int) { self.id = id }

    func run(_ sql: String, _ p: Int) throws -> Int {
        uses += 1
        if uses % 157 == 0 {
            isBroken = true
            throw DatabaseError.broken
        }
        if p % 101 == 0 { throw DatabaseError.constraint }
        return cache.statement(sql).execute(p)
    }
    var prepared: Int { cache.prepared }
}

final class Transaction {
    let connection: Connection
    private var log: [Int] = []
    init(_ c: Connection) { connection = c }
    func execute(_ sql: String, _ p: Int) throws {
        log.append(try connection.run(sql, p))
    }
    func commit() -> Int { log.reduce(0, &+) & 0xffff }
}

final class Pool {
    private let condition = NSCondition()
    private var idle: [Connection] = []
    private var total = 0
    private let maximum: Int
    private var serial = 0
    private(set) var replaced = 0
    private(set) var waits = 0
    private(set) var prepared = 0

    init(maximum: Int) { self.maximum = maximum }

    func acquire() throws -> Connection {
        condition.lock()
        defer { condition.unlock() }
        if let c = idle.popLast() { return c }
        if total < maximum {
            total += 1
            serial += 1
            return Connection(id: serial)
        }
        waits += 1
        let limit = Date().addingTimeInterval(2)
        while idle.isEmpty {
            if !condition.wait(until: limit) { throw DatabaseError.timeout }
        }
        return idle.removeLast()
    }

    func release(_ c: Connection) {
        condition.lock()
        if c.isBroken {
            serial += 1
            replaced += 1
            prepared += c.prepared
            idle.append(Connection(id: serial))
        } else {
            idle.append(c)
        }
        condition.signal()
        condition.unlock()
    }

    func withTransaction(_ body: (Transaction) throws -> Void) throws -> Int {
        let c = try acquire()
        defer { release(c) }
        let t = Transaction(c)
        try body(t)
        return t.commit()
    }

    func drain() -> String {
        condition.lock()
        defer { condition.unlock() }
        let uses = idle.reduce(0) { $0 + $1.uses }
        prepared += idle.reduce(0) { $0 + $1.prepared }
        let text = "connections \(serial) replaced \(replaced) waits \(waits) statements \(prepared) uses of last \(uses)"
        idle.removeAll()
        return text
    }
}

final class Repository {
    private let pool: Pool
    private let lock = NSLock()
    private var failures = 0
    private var commits = 0
    private var hash = 0
    init(pool: Pool) { self.pool = pool }

    func save(_ n: Int) {
        do {
            let r = try pool.withTransaction { t in
                try t.execute("insert into orders\(n % 6)", n)
                usleep(1_500)
                if n % 4 == 0 { try t.execute("update stock\(n % 9) set x = ?", n + 1) }
                if n % 7 == 0 { try t.execute("select * from report\(n)", n) }
            }
            lock.withLock {
                commits += 1
                hash = (hash &+ r) & 0xffffff
            }
        } catch {
            lock.withLock { failures += 1 }
        }
    }

    func summary() -> String { lock.withLock { "commits \(commits) failures \(failures) hash \(hash)" } }
}

func serve() {
    let pool = Pool(maximum: 5)
    let repository = Repository(pool: pool)
    let workers = OperationQueue()
    workers.maxConcurrentOperationCount = 7
    for n in 0..<5000 {
        workers.addOperation { repository.save(n) }
        if n % 500 == 499 { workers.waitUntilAllOperationsAreFinished() }
    }
    workers.waitUntilAllOperationsAreFinished()
    print(repository.summary())
    print(pool.drain())
}

serve()
