import Foundation
import Synchronization

struct QueryResult: Sendable {
    let rows: Int
    let connection: Int
}

final class PooledConnection: @unchecked Sendable {
    let number: Int
    private let counters = Mutex((queries: 0, pings: 0))
    private var pageBuffer: [Int]
    private var heartbeat: Task<Void, Never>?

    init(number: Int) {
        self.number = number
        self.pageBuffer = Array(repeating: number, count: 64)
    }

    func startHeartbeat() {
        heartbeat = Task {
            while !Task.isCancelled {
                self.ping()
                try? await Task.sleep(for: .milliseconds(25))
            }
        }
    }

    private func ping() { counters.withLock { $0.pings += 1 } }

    func execute(_ statement: String) -> QueryResult {
        counters.withLock { $0.queries += 1 }
        let rows = statement.utf8.reduce(0) { ($0 &* 7 &+ Int($1)) % 91 }
        pageBuffer[rows % pageBuffer.count] &+= rows
        return QueryResult(rows: rows, connection: number)
    }

    func close() {
        heartbeat?.cancel()
        heartbeat = nil
    }

    var queries: Int { counters.withLock { $0.queries } }
    var isAlive: Bool { counters.withLock { $0.pings > 0 } }
}

enum Priority { case interactive, reporting }

actor ConnectionPool {
    private let limit: Int
    private let maxQueries: Int
    private var idle: [PooledConnection] = []
    private var open: [Int: PooledConnection] = [:]
    private var interactiveWaiters: [CheckedContinuation<PooledConnection, Never>] = []
    private var reportingWaiters: [CheckedContinuation<PooledConnection, Never>] = []
    private var reportingHeld = true
    private var nextNumber = 0
    private(set) var replaced = 0

    init(limit: Int, maxQueries: Int) {
        self.limit = limit
        self.maxQueries = maxQueries
    }

    var reportingBacklog: Int { reportingWaiters.count }
    var liveConnections: [PooledConnection] { open.values.sorted { $0.number < $1.number } }

    func borrow(_ priority: Priority) async -> PooledConnection {
        if priority == .reporting && reportingHeld {
            return await withCheckedContinuation { reportingWaiters.append($0) }
        }
        if let connection = idle.popLast() { return connection }
        if open.count < limit { return connect() }
        return await withCheckedContinuation { interactiveWaiters.append($0) }
    }

    func giveBack(_ connection: PooledConnection) {
        var usable = connection
        if connection.queries >= maxQueries {
            connection.close()
            open[connection.number] = nil
            replaced += 1
            usable = connect()
        }
        if !interactiveWaiters.isEmpty {
            interactiveWaiters.removeFirst().resume(returning: usable)
        } else if !reportingHeld, !reportingWaiters.isEmpty {
            reportingWaiters.removeFirst().resume(returning: usable)
        } else {
            idle.append(usable)
        }
    }

    func admitReporting() {
        reportingHeld = false
        while !reportingWaiters.isEmpty, let connection = idle.popLast() {
            reportingWaiters.removeFirst().resume(returning: connection)
        }
    }

    private func connect() -> PooledConnection {
        nextNumber += 1
        let connection = PooledConnection(number: nextNumber)
        connection.startHeartbeat()
        open[nextNumber] = connection
        return connection
    }
}

func run(_ statements: [String], on pool: ConnectionPool, priority: Priority) async -> Int {
    let connection = await pool.borrow(priority)
    var rows = 0
    for statement in statements {
        rows += connection.execute(statement).rows
        try? await Task.sleep(for: .microseconds(400))
    }
    await pool.giveBack(connection)
    return rows
}

let pool = ConnectionPool(limit: 24, maxQueries: 40)
var reports: [Task<Int, Never>] = []
var interactiveRows = 0

for minute in 0..<50 {
    if minute % 5 != 4 {
        let month = minute % 12 + 1
        reports.append(Task {
            await run(["select sum(total) from orders where month = \(month)"], on: pool, priority: .reporting)
        })
    }
    let parallel = min(30, 2 + minute)
    interactiveRows += await withTaskGroup(of: Int.self) { group in
        for user in 0..<parallel {
            group.addTask {
                await run(["select * from carts where user = \(user)", "update carts set seen = \(minute)"],
                          on: pool, priority: .interactive)
            }
        }
        return await group.reduce(0, +)
    }
    try await Task.sleep(for: .milliseconds(9))
}

while await pool.reportingBacklog < reports.count { try await Task.sleep(for: .milliseconds(1)) }
await pool.admitReporting()
var reportRows = 0
for report in reports { reportRows += await report.value }
reports.removeAll()

let live = await pool.liveConnections
while !live.allSatisfy(\.isAlive) { try await Task.sleep(for: .milliseconds(5)) }
try await Task.sleep(for: .milliseconds(60))
print("interactive rows \(interactiveRows), report rows \(reportRows)")
print("within limit \(live.count <= 24), replaced some \(await pool.replaced > 0)")
