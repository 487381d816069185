import Foundation

final class DraftLine {
    let text: String
    let cents: Int
    init(text: String, cents: Int) { self.text = text; self.cents = cents }
}

final class DraftInvoice {
    let number: Int
    var customer = ""
    var lines: [DraftLine] = []
    init(number: Int) { self.number = number }
    var total: Int { lines.reduce(0) { $0 + $1.cents } }
}

enum FeedError: Error { case badAmount(Int), noCustomer }

final class InvoiceFeed {
    private var pending: [Int: DraftInvoice] = [:]
    private var posted: [String: [DraftInvoice]] = [:]
    private(set) var failures = 0

    private func fill(_ d: DraftInvoice, from text: String) throws {
        let parts = text.split(separator: "|")
        guard let first = parts.first else { throw FeedError.noCustomer }
        d.customer = String(first)
        for p in parts.dropFirst() {
            let kv = p.split(separator: "=")
            guard kv.count == 2, let cents = Int(kv[1]) else { throw FeedError.badAmount(d.number) }
            d.lines.append(DraftLine(text: String(kv[0]), cents: cents))
        }
    }

    func accept(number: Int, text: String) {
        let draft = DraftInvoice(number: number)
        pending[number] = draft
        do {
            try fill(draft, from: text)
        } catch {
            failures += 1
            return
        }
        pending[number] = nil
        if draft.total >= 5000 { posted[draft.customer, default: []].append(draft) }
    }

    func revenue() -> Int { posted.values.reduce(0) { $0 + $1.reduce(0) { $0 + $1.total } } }
    var postedCount: Int { posted.values.reduce(0) { $0 + $1.count } }
}

let feed = InvoiceFeed()
for n in 0..<4500 {
    let amount = 1000 + (n * 37) % 4000
    // every ninth row has a broken second amount
    let second = n % 9 == 0 ? "n/a" : "\(amount + 500)"
    feed.accept(number: n, text: "customer-number-\(n % 40)|consulting=\(amount)|travel expenses=\(second)")
}
print("posted \(feed.postedCount) failures \(feed.failures) revenue \(feed.revenue())")
