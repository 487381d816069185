// Tiny SQL front end: parses statements, produces plans and memoises them.
import Foundation

enum PlanNode {
    case scan(table: String)
    case indexSeek(table: String, column: String)
    indirect case filter(PlanNode, column: String)
    indirect case sort(PlanNode, by: String)
}

final class QueryPlan {
    let statement: String
    let root: PlanNode
    let cost: Double

    init(statement: String, root: PlanNode, cost: Double) {
        self.statement = statement
        self.root = root
        self.cost = cost
    }
}

struct Catalog {
    let indexes: [String: Set<String>] = [
        "orders": ["id", "customer_id"],
        "customers": ["id", "email"],
        "shipments": ["id"],
    ]
    let rowCounts: [String: Int] = ["orders": 1_200_000, "customers": 84_000, "shipments": 950_000]
}

final class Planner {
    private let catalog = Catalog()
    private var memo: [String: QueryPlan] = [:]
    private(set) var hits = 0
    private(set) var misses = 0

    func plan(for sql: String) -> QueryPlan {
        if let known = memo[sql] {
            hits += 1
            return known
        }
        misses += 1
        let built = build(sql)
        memo[sql] = built
        return built
    }

    private func build(_ sql: String) -> QueryPlan {
        let words = sql.split(separator: " ").map(String.init)
        var table = "orders"
        var column: String?
        var order: String?
        for (i, word) in words.enumerated() where i + 1 < words.count {
            switch word {
            case "FROM": table = words[i + 1]
            case "WHERE": column = words[i + 1]
            case "BY": order = words[i + 1]
            default: break
            }
        }
        let rows = Double(catalog.rowCounts[table] ?? 1000)
        var node = PlanNode.scan(table: table)
        var cost = rows
        if let column {
            if catalog.indexes[table]?.contains(column) == true {
                node = .indexSeek(table: table, column: column)
                cost = log2(rows)
            } else {
                node = .filter(node, column: column)
            }
        }
        if let order {
            node = .sort(node, by: order)
            cost *= 1.4
        }
        return QueryPlan(statement: sql, root: node, cost: cost)
    }
}

struct Workload {
    private var seed: UInt64 = 77
    private var serial = 40_000

    mutating func next(_ i: Int) -> String {
        seed = seed &* 6364136223846793005 &+ 1442695040888963407
        switch i % 5 {
        case 0:
            return ["SELECT * FROM orders WHERE customer_id = ?",
                    "SELECT * FROM customers WHERE email = ?",
                    "SELECT id FROM shipments WHERE status = ? ORDER BY eta"][Int(seed >> 33) % 3]
        case 1, 3:
            serial += 1
            return "SELECT * FROM orders WHERE id = \(serial)"
        case 2:
            serial += 1
            return "SELECT id FROM shipments WHERE tracking = 'TRK\(serial)' ORDER BY eta"
        default:
            serial += 1
            return "SELECT name FROM customers WHERE email = 'user\(serial)@example.org'"
        }
    }
}

let planner = Planner()
var workload = Workload()
var totalCost = 0.0
for i in 0..<1500 {
    totalCost += planner.plan(for: workload.next(i)).cost
    if i % 100 == 99 { usleep(4000) }
}
print("statements: 1500, plan hits: \(planner.hits), plan misses: \(planner.misses)")
print("estimated total cost: \(Int(totalCost))")
