import Foundation

final class Entry {
    enum Kind: String {
        case deposit, withdrawal, interest
    }

    let month: Int
    let account: Int
    let kind: Kind
    let cents: Int

    init(month: Int, account: Int, kind: Kind, cents: Int) {
        self.month = month
        self.account = account
        self.kind = kind
        self.cents = cents
    }

    var signed: Int { kind == .withdrawal ? -cents : cents }
}

struct Statement {
    let account: Int
    let opening: Int
    let closing: Int
    let bookings: Int
}

final class BankBook {
    private var journal: [Entry] = []
    private var balances: [Int: Int] = [:]

    func book(_ kind: Entry.Kind, account: Int, cents: Int, month: Int) {
        let entry = Entry(month: month, account: account, kind: kind, cents: cents)
        journal.append(entry)
        balances[account, default: 0] += entry.signed
    }

    func balance(of account: Int, before month: Int = .max) -> Int {
        journal.lazy
            .filter { $0.account == account && $0.month < month }
            .reduce(0) { $0 + $1.signed }
    }

    func statement(for account: Int, month: Int) -> Statement {
        let opening = balance(of: account, before: month)
        let current = journal.filter { $0.account == account && $0.month == month }
        let closing = current.reduce(opening) { $0 + $1.signed }
        return Statement(account: account, opening: opening, closing: closing, bookings: current.count)
    }

    func payInterest(month: Int) {
        for (account, balance) in balances.sorted(by: { $0.key < $1.key }) where balance > 10_000 {
            book(.interest, account: account, cents: balance / 400, month: month)
        }
    }

    func audit() -> (entries: Int, mismatches: Int, byKind: [String: Int]) {
        var replayed: [Int: Int] = [:]
        var byKind: [String: Int] = [:]
        for entry in journal {
            replayed[entry.account, default: 0] += entry.signed
            byKind[entry.kind.rawValue, default: 0] += entry.cents
        }
        let mismatches = balances.filter { replayed[$0.key] != $0.value }.count
        return (journal.count, mismatches, byKind)
    }
}

let book = BankBook()
var raised = 0

for month in 1...24 {
    for day in 0..<60 {
        let account = 100 + (day * 7 + month) % 15
        let cents = 1_000 + (day * 613 + month * 97) % 9_000
        if day % 3 == 2 {
            book.book(.withdrawal, account: account, cents: cents / 2, month: month)
        } else {
            book.book(.deposit, account: account, cents: cents, month: month)
        }
    }
    book.payInterest(month: month)
    for account in 100..<115 {
        let statement = book.statement(for: account, month: month)
        if statement.closing > statement.opening { raised += 1 }
    }
    usleep(2000)
}

let audit = book.audit()
print("entries \(audit.entries), mismatches \(audit.mismatches), statements with gain \(raised)")
for (kind, cents) in audit.byKind.sorted(by: { $0.key < $1.key }) {
    print("\(kind): \(cents)")
}
