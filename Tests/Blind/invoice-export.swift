// Monthly billing run: meter readings in, invoices and a CSV export out.
import Foundation

final class Invoice {
    let number: Int
    let customer: String
    let kilowattHours: Int
    let cents: Int

    init(number: Int, customer: String, kilowattHours: Int, cents: Int) {
        self.number = number
        self.customer = customer
        self.kilowattHours = kilowattHours
        self.cents = cents
    }

    var csv: String { "\(number);\(customer);\(kilowattHours);\(cents / 100).\(cents % 100)" }
}

struct MeterReading {
    let customer: String
    let previous: Int
    let current: Int
}

struct PriceList {
    let standing = 890
    let tiers: [(upTo: Int, centsPerKWh: Int)] = [(100, 24), (400, 29), (Int.max, 34)]

    func price(_ kWh: Int) -> Int {
        var left = kWh
        var floor = 0
        var total = standing
        for tier in tiers where left > 0 {
            let inTier = min(left, tier.upTo - floor)
            total += inTier * tier.centsPerKWh
            left -= inTier
            floor = tier.upTo
        }
        return total
    }
}

final class BillingRun {
    private let prices = PriceList()
    private var invoices: [Invoice] = []
    private var nextNumber = 700_001

    func bill(_ reading: MeterReading) {
        let used = reading.current - reading.previous
        guard used > 0 else { return }
        invoices.append(Invoice(number: nextNumber,
                                customer: reading.customer,
                                kilowattHours: used,
                                cents: prices.price(used)))
        nextNumber += 1
    }

    func export(to path: String) throws -> Int {
        let ordered = invoices.sorted { $0.customer < $1.customer }
        let body = ordered.map(\.csv).joined(separator: "\n") + "\n"
        try body.write(toFile: path, atomically: true, encoding: .utf8)
        return body.utf8.count
    }

    func totals() -> (count: Int, kWh: Int, cents: Int) {
        invoices.reduce(into: (0, 0, 0)) { sum, invoice in
            sum.0 += 1
            sum.1 += invoice.kilowattHours
            sum.2 += invoice.cents
        }
    }
}

let run = BillingRun()
for i in 0..<1500 {
    let start = 10_000 + i * 13
    run.bill(MeterReading(customer: "C\(10_000 + i * 7919 % 89_999)",
                          previous: start,
                          current: start + (i % 50 == 0 ? 0 : 60 + i * 37 % 700)))
    if i % 100 == 0 { usleep(4000) }
}

let path = NSTemporaryDirectory() + "invoices-\(ProcessInfo.processInfo.processIdentifier).csv"
do {
    let bytes = try run.export(to: path)
    try FileManager.default.removeItem(atPath: path)
    let totals = run.totals()
    print("exported \(totals.count) invoices, \(bytes) bytes")
    print("energy: \(totals.kWh) kWh, amount: \(totals.cents / 100) EUR")
} catch {
    print("export failed: \(error)")
    exit(1)
}
