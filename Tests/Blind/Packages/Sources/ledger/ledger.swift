import Dispatch
import Foundation
import GRDB

struct Account: Codable, FetchableRecord, PersistableRecord {
    var id: Int64
    var owner: String
    var cents: Int
}

/// Shows the balance of one account while its window is open.
final class BalanceWindow: @unchecked Sendable {
    let accountID: Int64
    private(set) var title = ""
    private(set) var updates = 0
    private var watch: AnyDatabaseCancellable?

    init(accountID: Int64) { self.accountID = accountID }

    func open(in database: DatabaseQueue, on queue: DispatchQueue) {
        let id = accountID
        watch = ValueObservation
            .tracking { db in try Account.fetchOne(db, key: id) }
            .start(
                in: database,
                scheduling: .async(onQueue: queue),
                onError: { print("cannot watch: \($0)") },
                onChange: { account in
                    guard let account else { return }
                    self.title = "\(account.owner): \(account.cents / 100).\(account.cents % 100)"
                    self.updates += 1
                }
            )
    }
}

final class Teller {
    private let database: DatabaseQueue
    private let screen = DispatchQueue(label: "screen")
    private var windows: [BalanceWindow] = []

    init(database: DatabaseQueue) { self.database = database }

    func attend(_ accounts: [Int64], payments: [Int]) throws -> Int {
        windows = accounts.map(BalanceWindow.init)
        for window in windows { window.open(in: database, on: screen) }
        for amount in payments {
            try database.write { db in
                for id in accounts {
                    guard var account = try Account.fetchOne(db, key: id) else { continue }
                    account.cents += amount
                    try account.update(db)
                }
            }
            usleep(4_000)
        }
        screen.sync {}
        let seen = windows.reduce(0) { $0 + $1.updates }
        windows.removeAll()
        return seen
    }
}

func openBook(accounts: Int) throws -> DatabaseQueue {
    let database = try DatabaseQueue()
    var migrator = DatabaseMigrator()
    migrator.registerMigration("accounts") { db in
        try db.create(table: "account") { table in
            table.primaryKey("id", .integer)
            table.column("owner", .text).notNull()
            table.column("cents", .integer).notNull()
        }
    }
    try migrator.migrate(database)
    try database.write { db in
        for number in 1...accounts {
            try Account(id: Int64(number), owner: "owner \(number)", cents: 1000 * number).insert(db)
        }
    }
    return database
}

@main
struct Ledger {
    static func main() throws {
        let database = try openBook(accounts: 200)
        let teller = Teller(database: database)
        var seen = 0
        for customer in 0..<9 {
            let first = Int64(customer * 4 + 1)
            seen += try teller.attend(Array(first..<first + 4), payments: (1...12).map { $0 * 50 })
        }
        usleep(400_000)
        let total = try database.read { db in
            try Int.fetchOne(db, sql: "SELECT SUM(cents) FROM account") ?? 0
        }
        print("total \(total / 100), balances shown: \(seen > 0)")
    }
}
