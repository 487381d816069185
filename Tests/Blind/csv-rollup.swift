import Foundation

// csvrollup: reads sales exports, keeps the rows, and answers group-by
// questions over them.  Usage: csvrollup [rows]

struct CSVTokenizer: Sequence, IteratorProtocol {
    private let bytes: [UInt8]
    private var cursor = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func next() -> [String]? {
        guard cursor < bytes.count else { return nil }
        var fields: [String] = []
        var field: [UInt8] = []
        var quoted = false
        while cursor < bytes.count {
            let byte = bytes[cursor]
            cursor += 1
            if quoted {
                if byte == UInt8(ascii: "\"") {
                    if cursor < bytes.count, bytes[cursor] == byte { field.append(byte); cursor += 1 } else { quoted = false }
                } else {
                    field.append(byte)
                }
            } else if byte == UInt8(ascii: "\"") {
                quoted = true
            } else if byte == UInt8(ascii: ",") {
                fields.append(String(decoding: field, as: UTF8.self))
                field.removeAll(keepingCapacity: true)
            } else if byte == 10 {
                break
            } else {
                field.append(byte)
            }
        }
        fields.append(String(decoding: field, as: UTF8.self))
        return fields
    }
}

final class Sale {
    let region: String
    let product: String
    let month: Int
    let units: Int
    let cents: Int

    init?(_ fields: [String]) {
        guard fields.count == 5, let month = Int(fields[2]), let units = Int(fields[3]), let price = Double(fields[4]) else { return nil }
        region = fields[0]
        product = fields[1]
        self.month = month
        self.units = units
        cents = Int((price * 100).rounded())
    }
}

final class Accumulator {
    private(set) var count = 0
    private(set) var units = 0
    private(set) var revenue = 0
    private(set) var largest = 0

    func add(_ sale: Sale) {
        count += 1
        units += sale.units
        revenue += sale.units * sale.cents
        largest = Swift.max(largest, sale.units * sale.cents)
    }

    var average: Double { count == 0 ? 0 : Double(revenue) / Double(count) / 100 }
}

final class SalesTable {
    private(set) var rows: [Sale] = []
    private(set) var rejected = 0
    private var byRegion: [String: [Sale]] = [:]

    func load(_ text: String) {
        for fields in CSVTokenizer(text).dropFirst() {
            guard let sale = Sale(fields) else { rejected += 1; continue }
            rows.append(sale)
            byRegion[sale.region, default: []].append(sale)
        }
    }

    var regions: [String] { byRegion.keys.sorted() }

    func group<Key: Hashable>(_ source: [Sale], by key: (Sale) -> Key) -> [Key: Accumulator] {
        var groups: [Key: Accumulator] = [:]
        for sale in source {
            let id = key(sale)
            if let existing = groups[id] {
                existing.add(sale)
            } else {
                let fresh = Accumulator()
                fresh.add(sale)
                groups[id] = fresh
            }
        }
        return groups
    }

    func rows(inRegion region: String) -> [Sale] { byRegion[region] ?? [] }
}

func exportFile(part: Int, rows: Int) -> String {
    let regions = ["North", "South", "East", "West", "Central, Upper", "Coast"]
    var text = "region,product,month,units,price\n"
    var state = UInt64(part) &* 0x9E37_79B9_7F4A_7C15 | 1
    for row in 0..<rows {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        let region = regions[Int(state % 6)]
        let product = "Item \(state >> 8 & 63)"
        text += region.contains(",") ? "\"\(region)\"" : region
        text += ",\(product),\(1 + Int(state >> 16) & 11),\(1 + state >> 24 & 31),"
        text += row % 500 == 499 ? "n/a\n" : "\(Double(state >> 32 & 4095) / 8)\n"
    }
    return text
}

func money(_ cents: Int) -> String { String(format: "%.2f", Double(cents) / 100) }

let table = SalesTable()
let rowsPerPart = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1]) ?? 12_000 : 12_000
for part in 1...8 {
    table.load(exportFile(part: part, rows: rowsPerPart))
}
print("rows \(table.rows.count), rejected \(table.rejected)")

for region in table.regions {
    let rows = table.rows(inRegion: region)
    let months = table.group(rows) { $0.month }
    let products = table.group(rows) { $0.product }
    let best = products.max { ($0.value.revenue, $0.key) < ($1.value.revenue, $1.key) }!
    let peak = months.max { ($0.value.units, $0.key) < ($1.value.units, $1.key) }!
    print("\(region): best \(best.key) \(money(best.value.revenue)), peak month \(peak.key), avg \(String(format: "%.2f", best.value.average))")
}

struct Cell: Hashable { let region: String, month: Int }
var checks = 0
for round in 0..<24 {
    let subset = table.rows.filter { $0.units > round / 4 }
    let pivot = table.group(subset) { Cell(region: $0.region, month: $0.month) }
    checks = checks &* 31 &+ pivot.values.reduce(0) { $0 &+ $1.revenue &+ $1.largest }
}
print("pivot check \(checks)")
