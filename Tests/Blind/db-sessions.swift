import Foundation

final class PreparedStatement {
    let sql: String
    let plan: [Int]
    var executions = 0
    init(sql: String) {
        self.sql = sql
        self.plan = (0..<32).map { ($0 * sql.count) % 97 }
    }
}

final class ResultRow {
    let columns: [Int]
    init(columns: [Int]) { self.columns = columns }
}

final class DatabaseSession {
    let name: String
    private var statements: [String: PreparedStatement] = [:]
    private var order: [String] = []
    private let limit = 20
    private(set) var prepared = 0

    init(name: String) { self.name = name }

    func statement(for sql: String) -> PreparedStatement {
        if let known = statements[sql] {
            order.removeAll { $0 == sql }
            order.append(sql)
            return known
        }
        let fresh = PreparedStatement(sql: sql)
        prepared += 1
        statements[sql] = fresh
        order.append(sql)
        if order.count > limit { statements.removeValue(forKey: order.removeFirst()) }
        return fresh
    }

    func query(_ sql: String, argument: Int) -> [ResultRow] {
        let statement = statement(for: sql)
        statement.executions += 1
        return (0..<5).map { row in ResultRow(columns: [argument, row, statement.plan[row]]) }
    }

    var cached: Int { statements.count }
}

final class SessionGroup {
    private let sessions: [DatabaseSession]
    private var cursor = 0
    init(size: Int) { sessions = (0..<size).map { DatabaseSession(name: "s\($0)") } }

    func next() -> DatabaseSession {
        cursor = (cursor + 1) % sessions.count
        return sessions[cursor]
    }

    var totals: (prepared: Int, cached: Int) {
        (sessions.reduce(0) { $0 + $1.prepared }, sessions.reduce(0) { $0 + $1.cached })
    }
}

let group = SessionGroup(size: 4)
var sum = 0
for step in 0..<60 {
    for n in 0..<30 {
        let table = (step * 11 + n * n) % 55
        let hot = n % 3 == 0
        let sql = hot ? "select name from users where id = ?" : "select * from table_\(table) where key = ?"
        let rows = group.next().query(sql, argument: n)
        sum += rows.reduce(0) { $0 + $1.columns[2] }
    }
    Thread.sleep(forTimeInterval: 0.015)
}
print("sum \(sum), prepared \(group.totals.prepared), cached \(group.totals.cached)")
