import Foundation

final class Transport: @unchecked Sendable {
    let peer: String
    var isOpen = true
    var readBuffer = [UInt8](repeating: 0, count: 8_192)
    init(peer: String) { self.peer = peer }
}

final class Connection: @unchecked Sendable {
    let number: Int
    let transport: Transport
    var queries = 0

    init(number: Int, peer: String) {
        self.number = number
        self.transport = Transport(peer: peer)
    }

    func run(_ query: Query) -> Bool {
        queries += 1
        guard transport.isOpen, query.id % 25 != 11 else { return false }
        transport.readBuffer[query.id % 8_192] = UInt8(query.id % 200)
        return true
    }
}

final class Query: @unchecked Sendable {
    let id: Int
    let sql: String
    init(id: Int) {
        self.id = id
        self.sql = "select * from orders where id = \(id)"
    }
}

actor ConnectionPool {
    private var idle: [Connection] = []
    private var leased: [Int: Connection] = [:]
    private var opened = 0
    private(set) var replaced = 0

    init(size: Int) {
        for n in 0..<size { idle.append(Connection(number: n, peer: "db-\(n % 2)")) }
        opened = size
    }

    func lease() -> Connection? {
        guard let connection = idle.popLast() else { return nil }
        leased[connection.number] = connection
        return connection
    }

    func giveBack(_ connection: Connection) {
        leased.removeValue(forKey: connection.number)
        idle.append(connection)
    }

    func discard(_ connection: Connection) {
        connection.transport.isOpen = false
        replaced += 1
        idle.append(Connection(number: opened, peer: connection.transport.peer))
        opened += 1
    }

    func status() -> String { "idle \(idle.count) opened \(opened) replaced \(replaced)" }
}

@main
struct ConnPoolApp {
    static let pool = ConnectionPool(size: 8)

    static func main() async {
        var succeeded = 0
        for batch in 0..<30 {
            succeeded += await withTaskGroup(of: Int.self) { group in
                for n in 0..<5 {
                    group.addTask {
                        var good = 0
                        for k in 0..<5 {
                            let query = Query(id: batch * 25 + n * 5 + k)
                            guard let connection = await pool.lease() else { continue }
                            if connection.run(query) {
                                good += 1
                                await pool.giveBack(connection)
                            } else {
                                await pool.discard(connection)
                            }
                        }
                        return good
                    }
                }
                return await group.reduce(0, +)
            }
            try? await Task.sleep(nanoseconds: 35_000_000)
        }
        print("succeeded \(succeeded)")
        print(await pool.status())
    }
}
