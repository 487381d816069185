import Foundation

struct Connection: Sendable {
    let id: Int
    let host: String
}

final class QueryJob: @unchecked Sendable {
    let statement: String
    private let parameters: [String]
    private(set) var rows = 0

    init(statement: String, parameters: [String]) {
        self.statement = statement
        self.parameters = parameters
    }

    func execute(on connection: Connection) {
        var hash: UInt64 = 14_695_981_039_346_656_037
        for text in [statement, connection.host] + parameters {
            for byte in text.utf8 {
                hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211
            }
        }
        rows = Int(hash % 50) + 1
    }
}

actor ConnectionPool {
    private var idle: [Connection]
    private var waiters: [UnsafeContinuation<Connection?, Never>] = []
    private let size: Int
    private var epoch = 0

    init(size: Int) {
        self.size = size
        self.idle = (0..<size).map { Connection(id: $0, host: "db-a") }
    }

    func acquire() async -> Connection? {
        if let connection = idle.popLast() {
            return connection
        }
        return await withUnsafeContinuation { continuation in
            waiters.append(continuation)
        }
    }

    func release(_ connection: Connection, epoch issued: Int) {
        guard issued == epoch else { return }
        if waiters.isEmpty {
            idle.append(connection)
        } else {
            waiters.removeFirst().resume(returning: connection)
        }
    }

    func failover(to host: String) {
        epoch += 1
        waiters.removeAll()
        idle = (0..<size).map { Connection(id: epoch * 100 + $0, host: host) }
    }

    var currentEpoch: Int { epoch }
    var queueLength: Int { waiters.count }
}

actor RowCounter {
    private(set) var rows = 0
    private(set) var finished = 0

    func add(_ job: QueryJob) {
        rows += job.rows
        finished += 1
    }
}

func submit(_ index: Int, pool: ConnectionPool, counter: RowCounter) {
    Task {
        let job = QueryJob(statement: "select * from orders where shard = ?", parameters: ["\(index)"])
        let epoch = await pool.currentEpoch
        guard let connection = await pool.acquire() else { return }
        job.execute(on: connection)
        try? await Task.sleep(for: .milliseconds(4))
        await counter.add(job)
        await pool.release(connection, epoch: epoch)
    }
}

func serve() async throws {
    let pool = ConnectionPool(size: 4)
    let counter = RowCounter()

    for round in 0..<4 {
        for index in 0..<60 {
            submit(round * 100 + index, pool: pool, counter: counter)
        }
        while await counter.finished < (round + 1) * 60 {
            try await Task.sleep(for: .milliseconds(10))
        }

        // A long report holds the whole pool while the primary goes away.
        var held: [Connection] = []
        let epoch = await pool.currentEpoch
        while held.count < 4, let connection = await pool.acquire() {
            held.append(connection)
        }
        for index in 60..<75 {
            submit(round * 100 + index, pool: pool, counter: counter)
        }
        while await pool.queueLength < 15 {
            try await Task.sleep(for: .milliseconds(5))
        }
        await pool.failover(to: "db-\(["b", "c", "d", "e"][round])")
        for connection in held {
            await pool.release(connection, epoch: epoch)
        }
        try await Task.sleep(for: .milliseconds(150))
    }
    print("finished \(await counter.finished) queries, rows \(await counter.rows), epoch \(await pool.currentEpoch)")
}

try await serve()
