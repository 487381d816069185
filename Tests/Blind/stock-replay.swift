// Event-sourced stock keeping: events change the live projection and are replayed for the audit at the end.
import Foundation

struct Sku: Hashable, Comparable {
    let text: String

    static func < (a: Sku, b: Sku) -> Bool { a.text < b.text }
}

class StockEvent {
    let version: Int
    let sku: Sku

    init(version: Int, sku: Sku) {
        self.version = version
        self.sku = sku
    }

    func apply(to projection: inout Projection) {
        projection.lastVersion = version
    }
}

final class Received: StockEvent {
    let quantity: Int
    let supplier: String

    init(version: Int, sku: Sku, quantity: Int, supplier: String) {
        self.quantity = quantity
        self.supplier = supplier
        super.init(version: version, sku: sku)
    }

    override func apply(to projection: inout Projection) {
        super.apply(to: &projection)
        projection.levels[sku, default: 0] += quantity
        projection.suppliers[supplier, default: 0] += quantity
    }
}

final class Shipped: StockEvent {
    let quantity: Int

    init(version: Int, sku: Sku, quantity: Int) {
        self.quantity = quantity
        super.init(version: version, sku: sku)
    }

    override func apply(to projection: inout Projection) {
        super.apply(to: &projection)
        projection.levels[sku, default: 0] -= quantity
        projection.shipped += quantity
    }
}

final class Counted: StockEvent {
    let found: Int

    init(version: Int, sku: Sku, found: Int) {
        self.found = found
        super.init(version: version, sku: sku)
    }

    override func apply(to projection: inout Projection) {
        super.apply(to: &projection)
        projection.shrinkage += (projection.levels[sku] ?? 0) - found
        projection.levels[sku] = found
    }
}

struct Projection: Equatable {
    var levels: [Sku: Int] = [:]
    var suppliers: [String: Int] = [:]
    var shipped = 0
    var shrinkage = 0
    var lastVersion = 0
}

enum CommandError: Error {
    case outOfStock
}

final class EventStore {
    private var events: [StockEvent] = []

    var nextVersion: Int { events.count + 1 }

    func append(_ event: StockEvent) {
        events.append(event)
    }

    func replay(upTo version: Int? = nil) -> Projection {
        var projection = Projection()
        for event in events {
            if let version, event.version > version { break }
            event.apply(to: &projection)
        }
        return projection
    }
}

final class Warehouse {
    let store = EventStore()
    private(set) var live = Projection()

    private func record(_ event: StockEvent) {
        store.append(event)
        event.apply(to: &live)
    }

    func receive(_ sku: Sku, _ quantity: Int, from supplier: String) {
        record(Received(version: store.nextVersion, sku: sku, quantity: quantity, supplier: supplier))
    }

    func ship(_ sku: Sku, _ quantity: Int) throws {
        guard live.levels[sku, default: 0] >= quantity else { throw CommandError.outOfStock }
        record(Shipped(version: store.nextVersion, sku: sku, quantity: quantity))
    }

    func count(_ sku: Sku, found: Int) {
        record(Counted(version: store.nextVersion, sku: sku, found: found))
    }
}

let warehouse = Warehouse()
let skus = (0..<30).map { Sku(text: "SKU-\($0 + 100)") }
let suppliers = ["Nord", "Sued", "West"]
var refused = 0

for day in 0..<60 {
    for index in 0..<12 {
        let sku = skus[(day * 5 + index * 3) % skus.count]
        warehouse.receive(sku, 5 + (day + index) % 7, from: suppliers[(day + index) % 3])
    }
    for order in 0..<40 {
        let sku = skus[(day * 11 + order * 7) % skus.count]
        do {
            try warehouse.ship(sku, 1 + (order + day) % 4)
        } catch {
            refused += 1
        }
    }
    if day % 10 == 9 {
        for sku in skus.prefix(10) {
            let level = warehouse.live.levels[sku] ?? 0
            warehouse.count(sku, found: max(0, level - 1))
        }
    }
    usleep(4_000)
}

let live = warehouse.live
print("events \(live.lastVersion), shipped \(live.shipped), refused \(refused), shrinkage \(live.shrinkage)")
print("suppliers: \(live.suppliers.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))")
let half = warehouse.store.replay(upTo: live.lastVersion / 2)
print("at half time: shipped \(half.shipped), stock \(half.levels.values.reduce(0, +))")
let audit = warehouse.store.replay()
print("replay agrees with the live model: \(audit == live), stock \(audit.levels.values.reduce(0, +))")
