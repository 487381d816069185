import Foundation

struct Currency {
    let code: String
    let digits: Int
}

final class ReportRow {
    let account: String
    let cents: Int
    let currency: Currency

    lazy var format: (Int) -> String = { value in
        let whole = value / 100
        let rest = abs(value % 100)
        let padded = rest < 10 ? "0\(rest)" : "\(rest)"
        return self.currency.digits == 0
            ? "\(whole) \(self.currency.code)"
            : "\(whole).\(padded) \(self.currency.code)"
    }

    init(account: String, cents: Int, currency: Currency) {
        self.account = account
        self.cents = cents
        self.currency = currency
    }

    func render() -> String {
        "\(account): \(format(cents))"
    }
}

final class Report {
    let title: String
    private var rows: [ReportRow] = []

    init(title: String) { self.title = title }

    func add(_ row: ReportRow) { rows.append(row) }

    /// Only accounts that moved are printed.
    func text() -> String {
        var lines = [title]
        for row in rows where row.cents != 0 { lines.append(row.render()) }
        return lines.joined(separator: "\n")
    }

    lazy var checksum: Int = rows.reduce(0) { $0 &+ $1.cents }
}

@main
struct MonthEnd {
    static func main() {
        let currencies = [Currency(code: "EUR", digits: 2), Currency(code: "JPY", digits: 0)]
        var characters = 0
        var check = 0
        for month in 1...8 {
            let report = Report(title: "Month \(month)")
            for n in 0..<50 {
                let moved = n % 2 == 0
                report.add(ReportRow(
                    account: "DE\(1000 + n)",
                    cents: moved ? (n + 1) * month * 37 : 0,
                    currency: currencies[n % 4 / 2]))
            }
            characters += report.text().count
            check &+= report.checksum
            Thread.sleep(forTimeInterval: 0.02)
        }
        print("printed \(characters) characters, checksum \(check)")
    }
}
