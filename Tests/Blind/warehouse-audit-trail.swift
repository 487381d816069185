// Stock ledger for a parts warehouse with an audit trail on every movement.
import Foundation

enum Movement {
    case receive(Int)
    case pick(Int)
    case adjust(to: Int)
}

final class AuditEntry {
    let sequence: Int
    let clerk: String
    let text: String

    init(sequence: Int, clerk: String, text: String) {
        self.sequence = sequence
        self.clerk = clerk
        self.text = text
    }
}

final class AuditTrail {
    private var entries: [AuditEntry] = []
    private var sequence = 0

    func record(clerk: String, _ text: String) {
        sequence += 1
        let entry = AuditEntry(sequence: sequence, clerk: clerk, text: text)
        entries.append(entry)
    }

    func mostRecent() -> AuditEntry? { entries.last }

    func latest(_ n: Int) -> [String] {
        entries.suffix(n).map { "#\($0.sequence) \($0.clerk): \($0.text)" }
    }
}

enum StockError: Error {
    case insufficient(part: String, have: Int)
}

final class Warehouse {
    private var stock: [String: Int] = [:]
    private let trail: AuditTrail

    init(trail: AuditTrail) { self.trail = trail }

    func apply(_ movement: Movement, part: String, clerk: String) throws {
        let before = stock[part, default: 0]
        let after: Int
        switch movement {
        case .receive(let n): after = before + n
        case .pick(let n):
            guard before >= n else {
                trail.record(clerk: clerk, "rejected pick of \(n) x \(part)")
                throw StockError.insufficient(part: part, have: before)
            }
            after = before - n
        case .adjust(let n): after = n
        }
        stock[part] = after
        trail.record(clerk: clerk, "\(part) \(before) -> \(after)")
    }

    var units: Int { stock.values.reduce(0, +) }
}

let trail = AuditTrail()
let warehouse = Warehouse(trail: trail)
let parts = ["bearing-608", "belt-gt2", "nema17", "psu-24v", "extrusion-2020"]
let clerks = ["amira", "jonas", "petra"]
var rejected = 0
var screen: [String] = []

for i in 0..<1100 {
    let part = parts[i * 7 % parts.count]
    let movement: Movement
    switch i % 6 {
    case 0, 3: movement = .receive(i % 13 + 4)
    case 5 where i % 30 == 5: movement = .adjust(to: 10)
    default: movement = .pick(i % 9 + 1)
    }
    do {
        try warehouse.apply(movement, part: part, clerk: clerks[i % 3])
    } catch StockError.insufficient {
        rejected += 1
    } catch {
        print("unexpected: \(error)")
    }
    if i % 50 == 49 {
        screen = trail.latest(2)
        usleep(6000)
    }
}

print("units on shelf: \(warehouse.units), rejected picks: \(rejected)")
screen.forEach { print("  \($0)") }
