import Foundation

final class Invoice: @unchecked Sendable {
    let number: Int
    let merchant: String
    let cents: Int
    let lines: [String]

    init(number: Int, merchant: String, cents: Int) {
        self.number = number
        self.merchant = merchant
        self.cents = cents
        self.lines = (0..<3).map { "item \(number % 17 + $0)" }
    }
}

struct Payment: Sendable {
    let invoiceNumber: Int
    let cents: Int
}

enum Verdict: Sendable {
    case settled(Int)
    case disputed(Int)
    case unknown
}

actor ClearingDesk {
    static let main = ClearingDesk()

    private var awaiting: [Int: Invoice] = [:]
    private(set) var turnover = 0
    private(set) var disputes = 0

    func submit(number: Int, merchant: String, cents: Int) {
        let invoice = Invoice(number: number, merchant: merchant, cents: cents)
        awaiting[number] = invoice
    }

    func confirm(_ payment: Payment) -> Verdict {
        guard let invoice = awaiting[payment.invoiceNumber] else {
            return .unknown
        }
        guard payment.cents == invoice.cents else {
            disputes += 1
            return .disputed(invoice.cents - payment.cents)
        }
        turnover += payment.cents
        awaiting.removeValue(forKey: payment.invoiceNumber)
        return .settled(invoice.lines.count)
    }
}

struct MerchantReport: Sendable {
    let name: String
    var settled = 0
    var disputed = 0
    var difference = 0
}

func trade(merchant index: Int, invoices: Int, desk: ClearingDesk) async -> MerchantReport {
    var report = MerchantReport(name: "merchant-\(index)")
    for item in 0..<invoices {
        let number = index * 1000 + item
        let cents = 500 + (number * 7919) % 20_000
        await desk.submit(number: number, merchant: report.name, cents: cents)
        let short = (number * 31 + index) % 9 == 0 ? 150 : 0
        let payment = Payment(invoiceNumber: number, cents: cents - short)
        switch await desk.confirm(payment) {
        case .settled:
            report.settled += 1
        case .disputed(let difference):
            report.disputed += 1
            report.difference += difference
        case .unknown:
            break
        }
        if item % 16 == 0 { await Task.yield() }
    }
    return report
}

@main
enum Clearing {
    static func main() async {
        let desk = ClearingDesk.main
        let reports = await withTaskGroup(of: MerchantReport.self) { group in
            for merchant in 1...30 {
                group.addTask { await trade(merchant: merchant, invoices: 110, desk: desk) }
            }
            var all: [MerchantReport] = []
            for await report in group { all.append(report) }
            return all
        }
        let settled = reports.reduce(0) { $0 + $1.settled }
        let missing = reports.reduce(0) { $0 + $1.difference }
        print("settled \(settled), disputed \(await desk.disputes)")
        print("turnover \(await desk.turnover), short by \(missing)")
    }
}
