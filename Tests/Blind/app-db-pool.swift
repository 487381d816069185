import Foundation

final class PreparedStatement {
    let sql: String
    private(set) var executions = 0
    init(sql: String) { self.sql = sql }
    func execute(_ parameter: Int) -> Int {
        executions += 1
        return sql.utf8.reduce(parameter) { ($0 &* 31 &+ Int($1)) & 0xfffff }
    }
}

final class DatabaseConnection {
    let number: Int
    private(set) var isOpen = true
    private var statements: [String: PreparedStatement] = [:]
    init(number: Int) { self.number = number }

    func prepare(_ sql: String) -> PreparedStatement {
        if let statement = statements[sql] { return statement }
        let statement = PreparedStatement(sql: sql)
        statements[sql] = statement
        return statement
    }

    func close() { isOpen = false }
}

enum QueryError: Error {
    case timeout
    case deadlock
}

final class ConnectionPool {
    private let lock = NSLock()
    private var idle: [DatabaseConnection] = []
    private var leased: [Int: DatabaseConnection] = [:]
    private var numbers = 0
    private let available: DispatchSemaphore

    init(size: Int) {
        available = DispatchSemaphore(value: size)
    }

    func lease() -> DatabaseConnection {
        available.wait()
        lock.lock()
        defer { lock.unlock() }
        let connection: DatabaseConnection
        if let free = idle.popLast() {
            connection = free
        } else {
            numbers += 1
            connection = DatabaseConnection(number: numbers)
        }
        leased[connection.number] = connection
        return connection
    }

    func giveBack(_ connection: DatabaseConnection) {
        lock.lock()
        leased[connection.number] = nil
        idle.append(connection)
        lock.unlock()
        available.signal()
    }

    func discard(_ connection: DatabaseConnection) {
        connection.close()
        available.signal()
    }

    var created: Int {
        lock.lock()
        defer { lock.unlock() }
        return numbers
    }
}

final class Query {
    let sql: String
    let parameter: Int
    init(sql: String, parameter: Int) {
        self.sql = sql
        self.parameter = parameter
    }

    func run(on connection: DatabaseConnection) throws -> Int {
        let statement = connection.prepare(sql)
        let result = statement.execute(parameter)
        if parameter % 79 == 40 { throw QueryError.timeout }
        if parameter % 31 == 7 { throw QueryError.deadlock }
        return result
    }
}

final class Repository {
    private let pool: ConnectionPool
    private let lock = NSLock()
    private var results = 0
    private var failures: [String: Int] = [:]

    init(pool: ConnectionPool) { self.pool = pool }

    func perform(_ query: Query) {
        let connection = pool.lease()
        usleep(1500)
        do {
            let value = try query.run(on: connection)
            pool.giveBack(connection)
            count { results += value & 1 }
        } catch QueryError.timeout {
            pool.discard(connection)
            count { failures["timeout", default: 0] += 1 }
        } catch {
            pool.giveBack(connection)
            count { failures["\(error)", default: 0] += 1 }
        }
    }

    private func count(_ change: () -> Void) {
        lock.lock()
        change()
        lock.unlock()
    }

    func summary() -> String {
        lock.lock()
        defer { lock.unlock() }
        return "odd results \(results), failures \(failures.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })"
    }
}

func loadTest() {
    let pool = ConnectionPool(size: 3)
    let repository = Repository(pool: pool)
    let operations = OperationQueue()
    operations.maxConcurrentOperationCount = 4
    let tables = ["users", "orders", "items", "events", "stock"]
    for number in 0..<1200 {
        let table = tables[number % tables.count]
        let sql = number % 3 == 0 ? "UPDATE \(table) SET touched = 1 WHERE id = ?" : "SELECT * FROM \(table) WHERE id = ?"
        operations.addOperation {
            repository.perform(Query(sql: sql, parameter: number))
        }
        if number % 2 == 0 { usleep(2500) }
    }
    operations.waitUntilAllOperationsAreFinished()
    print(repository.summary())
    print("connections created: \(pool.created)")
}

loadTest()
