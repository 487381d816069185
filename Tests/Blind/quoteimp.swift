import Foundation

struct QuoteLine {
    let sku: String
    let quantity: Int
    let price: Int
}

final class QuoteDocument {
    let reference: String
    let lines: [QuoteLine]
    let statedTotal: Int

    init(reference: String, lines: [QuoteLine], statedTotal: Int) {
        self.reference = reference
        self.lines = lines
        self.statedTotal = statedTotal
    }

    var computedTotal: Int { lines.reduce(0) { $0 + $1.quantity * $1.price } }
}

enum ImportProblem: Error {
    case unreadable(row: String)
    case totalMismatch(QuoteDocument)
}

final class ImportJournal {
    static let shared = ImportJournal()
    private var problems: [Error] = []
    private(set) var mismatches = 0
    private(set) var unreadable = 0

    func record(_ problem: Error) {
        problems.append(problem)
        switch problem {
        case ImportProblem.totalMismatch: mismatches += 1
        default: unreadable += 1
        }
    }
}

struct QuoteParser {
    func parse(_ text: String) throws -> QuoteDocument {
        let rows = text.split(separator: "\n").map(String.init)
        guard let header = rows.first, let split = header.firstIndex(of: "=") else {
            throw ImportProblem.unreadable(row: rows.first ?? "")
        }
        let reference = String(header[..<split])
        let stated = Int(header[header.index(after: split)...]) ?? -1
        var lines: [QuoteLine] = []
        for row in rows.dropFirst() {
            let fields = row.split(separator: ";")
            guard fields.count == 3, let quantity = Int(fields[1]), let price = Int(fields[2]) else {
                throw ImportProblem.unreadable(row: row)
            }
            lines.append(QuoteLine(sku: String(fields[0]), quantity: quantity, price: price))
        }
        let document = QuoteDocument(reference: reference, lines: lines, statedTotal: stated)
        guard document.computedTotal == document.statedTotal else {
            throw ImportProblem.totalMismatch(document)
        }
        return document
    }
}

func exportedQuote(_ index: Int) -> String {
    var total = 0
    var body = ""
    for line in 0..<(2 + index % 4) {
        let quantity = 1 + (index + line) % 9
        let price = 100 + (index * 31 + line * 17) % 900
        total += quantity * price
        body += "\nSKU\(index)-\(line);\(quantity);\(price)"
    }
    if index % 6 == 1 { total += 5 }
    return "Q\(index)=\(total)" + body
}

let parser = QuoteParser()
var accepted = 0
var turnover = 0

for index in 1...1500 {
    do {
        let quote = try parser.parse(exportedQuote(index))
        accepted += 1
        turnover += quote.computedTotal
    } catch {
        ImportJournal.shared.record(error)
    }
    if index % 25 == 0 {
        usleep(9_000)
    }
}

let journal = ImportJournal.shared
print("quoteimp: accepted \(accepted) turnover \(turnover) mismatched \(journal.mismatches) unreadable \(journal.unreadable)")
exit(0)
