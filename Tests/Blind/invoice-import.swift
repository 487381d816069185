// Imports invoices from a text export, checks them and prints a report by customer at the end.
import Foundation

enum ImportError: Error {
    case columns(Int)
    case amount(String)
    case duplicate(String)
}

final class InvoiceLine {
    let article: String
    let quantity: Int
    let cents: Int

    init(article: String, quantity: Int, cents: Int) {
        self.article = article
        self.quantity = quantity
        self.cents = cents
    }
}

final class Invoice {
    let number: String
    let customer: String
    private(set) var lines: [InvoiceLine] = []

    init(number: String, customer: String) {
        self.number = number
        self.customer = customer
    }

    func add(_ line: InvoiceLine) {
        lines.append(line)
    }

    var total: Int { lines.reduce(0) { $0 + $1.quantity * $1.cents } }
}

final class ImportIssue {
    let row: Int
    let error: ImportError

    init(row: Int, error: ImportError) {
        self.row = row
        self.error = error
    }

    var text: String {
        switch error {
        case .columns(let count): return "row \(row): \(count) columns"
        case .amount(let value): return "row \(row): amount '\(value)'"
        case .duplicate(let number): return "row \(row): duplicate \(number)"
        }
    }
}

final class Importer {
    private(set) var invoices: [Invoice] = []
    private(set) var issues: [ImportIssue] = []
    private var numbers: Set<String> = []

    func read(_ text: String) {
        var row = 0
        for line in text.split(separator: "\n") {
            row += 1
            do {
                invoices.append(try parse(line))
            } catch let error as ImportError {
                issues.append(ImportIssue(row: row, error: error))
            } catch {
                fatalError("unexpected: \(error)")
            }
        }
    }

    private func parse(_ line: Substring) throws -> Invoice {
        let columns = line.split(separator: ";", omittingEmptySubsequences: false)
        guard columns.count >= 5, (columns.count - 2) % 3 == 0 else {
            throw ImportError.columns(columns.count)
        }
        let invoice = Invoice(number: String(columns[0]), customer: String(columns[1]))
        var index = 2
        while index < columns.count {
            guard let quantity = Int(columns[index + 1]), let cents = Int(columns[index + 2]) else {
                throw ImportError.amount(String(columns[index + 2]))
            }
            invoice.add(InvoiceLine(article: String(columns[index]), quantity: quantity, cents: cents))
            index += 3
        }
        guard numbers.insert(invoice.number).inserted else {
            throw ImportError.duplicate(invoice.number)
        }
        return invoice
    }
}

func makeExport(rows: Int, series: String) -> String {
    var text = ""
    let customers = ["Acker & Sohn", "Blumen Lotz", "Cafe Mira", "Druckerei Ost", "Elektro Paul"]
    for row in 0..<rows {
        let number = row % 90 == 89 ? "\(series)\(row - 5)" : "\(series)\(row)"
        text += "\(number);\(customers[(row * 3 + row / 11) % customers.count])"
        for position in 0...(row % 3) {
            let cents = row % 70 == 33 ? "n/a" : String(199 + (row * 37 + position * 411) % 9000)
            text += ";ART\((row + position * 13) % 120);\(1 + (row + position) % 6);\(cents)"
        }
        if row % 110 == 50 { text += ";rest" }
        text += "\n"
    }
    return text
}

let importer = Importer()
for part in 0..<3 {
    importer.read(makeExport(rows: 500, series: "R\(part)/"))
    usleep(20_000)
}

let grouped = Dictionary(grouping: importer.invoices, by: \.customer)
print("invoices: \(importer.invoices.count), issues: \(importer.issues.count)")
for customer in grouped.keys.sorted() {
    let list = grouped[customer] ?? []
    let total = list.reduce(0) { $0 + $1.total }
    let biggest = list.max { $0.total < $1.total }
    print("  \(customer): \(list.count) invoices, \(total / 100) EUR, biggest \(biggest?.number ?? "-")")
}
var pieces: [String: Int] = [:]
for invoice in importer.invoices {
    for line in invoice.lines {
        pieces[line.article, default: 0] += line.quantity
    }
}
let best = pieces.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.prefix(3)
print("best sellers: \(best.map { "\($0.key) x\($0.value)" }.joined(separator: ", "))")
print("kinds of issues: \(importer.issues.prefix(4).map(\.text).joined(separator: " | "))")
print("issue characters: \(importer.issues.reduce(0) { $0 + $1.text.count })")
