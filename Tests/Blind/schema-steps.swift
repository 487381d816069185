import Foundation

final class Table {
    let name: String
    var columns: [String] = []
    var rows = 0
    init(name: String) { self.name = name }
}

final class Database {
    private(set) var tables: [String: Table] = [:]
    func create(_ name: String) -> Table {
        let t = Table(name: name)
        tables[name] = t
        return t
    }
    func drop(_ name: String) { tables[name] = nil }
}

final class Migration {
    let version: Int
    let title: String
    let body: (Database) -> Void
    init(version: Int, title: String, body: @escaping (Database) -> Void) {
        self.version = version; self.title = title; self.body = body
    }
}

final class MigrationPlan {
    private(set) var steps: [Migration] = []
    private var afterwards: [() -> Void] = []
    private(set) var applied = 0

    func add(_ title: String, _ body: @escaping (Database) -> Void) {
        steps.append(Migration(version: steps.count + 1, title: title, body: body))
    }
    func defer_(_ block: @escaping () -> Void) { afterwards.append(block) }

    func run(on db: Database) {
        for s in steps.sorted(by: { $0.version < $1.version }) {
            s.body(db)
            applied += 1
        }
        for block in afterwards.reversed() { block() }
    }
}

final class Module {
    let name: String
    init(name: String) { self.name = name }
    func contribute(to plan: MigrationPlan, log: Counter) {
        for i in 0..<12 {
            let table = "\(name)_table_\(i)"
            plan.add("create \(table)") { db in
                let t = db.create(table)
                t.columns = ["id", "created"]
            }
            plan.add("extend \(table)") { db in
                db.tables[table]?.columns.append("owner_of_\(table)")
                db.tables[table]?.rows = i
            }
            if i % 4 == 3 { plan.add("drop \(table)") { $0.drop(table) } }
        }
        plan.defer_ { log.value += 1 }
    }
}

final class Counter { var value = 0 }

let plan = MigrationPlan()
let counter = Counter()
let database = Database()
for n in 0..<40 {
    // modules are short-lived: they only contribute steps
    Module(name: "module\(n)").contribute(to: plan, log: counter)
}
plan.run(on: database)
print("applied \(plan.applied) tables \(database.tables.count) finished \(counter.value)")
