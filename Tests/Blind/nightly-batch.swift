import Foundation

final class CustomerRecord {
    let id: Int
    let discount: Int
    init(id: Int) {
        self.id = id
        self.discount = (id * 3) % 20
    }
}

final class CustomerCache {
    private let capacity: Int
    private var records: [Int: CustomerRecord] = [:]
    private var recency: [Int] = []
    private(set) var loads = 0

    init(capacity: Int) { self.capacity = capacity }

    func record(_ id: Int) -> CustomerRecord {
        if let record = records[id] {
            if let index = recency.firstIndex(of: id) { recency.remove(at: index) }
            recency.append(id)
            return record
        }
        loads += 1
        if records.count >= capacity {
            records.removeValue(forKey: recency.removeFirst())
        }
        let record = CustomerRecord(id: id)
        records[id] = record
        recency.append(id)
        return record
    }

    var count: Int { records.count }
}

final class InvoiceLine {
    let customer: Int
    let region: String
    let cents: Int
    init(customer: Int, region: String, cents: Int) {
        self.customer = customer
        self.region = region
        self.cents = cents
    }
}

final class RawRow {
    let fields: [String]
    init(_ text: String) { fields = text.split(separator: ";").map(String.init) }
}

final class NightlyBatch {
    static let shared = NightlyBatch()
    let cache = CustomerCache(capacity: 50)
    private var lines: [InvoiceLine] = []

    func process(_ row: RawRow) {
        guard row.fields.count == 3, let id = Int(row.fields[0]), let cents = Int(row.fields[2]) else { return }
        let customer = cache.record(id)
        lines.append(InvoiceLine(customer: customer.id, region: row.fields[1],
                                 cents: cents * (100 - customer.discount) / 100))
    }

    func report() -> String {
        let byRegion = Dictionary(grouping: lines, by: \.region)
        let totals = byRegion.map { region, lines in
            "\(region)=\(lines.reduce(0) { $0 + $1.cents })"
        }
        let best = lines.max { $0.cents < $1.cents }
        return totals.sorted().joined(separator: " ") + " best \(best?.cents ?? 0) lines \(lines.count)"
    }
}

@main
struct Main {
    static func main() {
        let batch = NightlyBatch.shared
        let regions = ["north", "south", "west"]
        for file in 0..<8 {
            for n in 0..<90 {
                let customer = (file * 13 + n * n) % 140
                batch.process(RawRow("\(customer);\(regions[n % 3]);\(500 + n * 10)"))
            }
        }
        print("\(batch.report()) cached \(batch.cache.count)")
    }
}
