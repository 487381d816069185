// Double-entry books of a sports club: a year of postings, then statements and a trial balance.

enum Side {
    case debit, credit
}

class Account {
    let number: Int
    let title: String
    fileprivate(set) var postings: [Posting] = []

    init(number: Int, title: String) {
        self.number = number
        self.title = title
    }

    var balance: Int {
        postings.reduce(0) { $0 + ($1.side == .debit ? $1.cents : -$1.cents) }
    }
}

final class MemberAccount: Account {
    let joinedMonth: Int

    init(number: Int, title: String, joinedMonth: Int) {
        self.joinedMonth = joinedMonth
        super.init(number: number, title: title)
    }

    var owes: Bool { balance > 0 }
}

final class Posting {
    let side: Side
    let cents: Int
    unowned let entry: JournalEntry

    init(side: Side, cents: Int, entry: JournalEntry) {
        self.side = side
        self.cents = cents
        self.entry = entry
    }
}

final class JournalEntry {
    let number: Int
    let month: Int
    let text: String

    init(number: Int, month: Int, text: String) {
        self.number = number
        self.month = month
        self.text = text
    }
}

enum LedgerError: Error {
    case unknownAccount(Int)
    case nothingToPost
}

final class Ledger {
    private var accounts: [Int: Account] = [:]
    private(set) var journal: [JournalEntry] = []

    func open(_ account: Account) {
        accounts[account.number] = account
    }

    func post(_ text: String, month: Int, debit: Int, credit: Int, cents: Int) throws {
        guard cents > 0 else { throw LedgerError.nothingToPost }
        guard let from = accounts[credit] else { throw LedgerError.unknownAccount(credit) }
        guard let to = accounts[debit] else { throw LedgerError.unknownAccount(debit) }
        let entry = JournalEntry(number: journal.count + 1, month: month, text: text)
        journal.append(entry)
        to.postings.append(Posting(side: .debit, cents: cents, entry: entry))
        from.postings.append(Posting(side: .credit, cents: cents, entry: entry))
    }

    func statement(_ number: Int, month: Int) throws -> [String] {
        guard let account = accounts[number] else { throw LedgerError.unknownAccount(number) }
        return account.postings.filter { $0.entry.month == month }.map {
            "\($0.entry.number) \($0.entry.text) \($0.side == .debit ? "" : "-")\($0.cents)"
        }
    }

    func trialBalance() -> (lines: [(String, Int)], sum: Int) {
        let sorted = accounts.values.sorted { $0.number < $1.number }
        let lines = sorted.filter { !($0 is MemberAccount) }.map { ($0.title, $0.balance) }
        return (lines, sorted.reduce(0) { $0 + $1.balance })
    }

    var debtors: [MemberAccount] {
        accounts.values.compactMap { $0 as? MemberAccount }.filter(\.owes).sorted { $0.number < $1.number }
    }
}

func runYear(_ ledger: Ledger, members: Int) throws -> Int {
    var rejected = 0
    for month in 1...12 {
        for member in 0..<members where member % 12 < month {
            try ledger.post("fee", month: month, debit: 10_000 + member, credit: 4000, cents: 1250)
            if (member + month) % 9 != 0 {
                try ledger.post("payment", month: month, debit: 1200, credit: 10_000 + member, cents: 1250)
            }
        }
        try ledger.post("hall rent", month: month, debit: 6000, credit: 1200, cents: 48_000)
        try ledger.post("balls and nets", month: month, debit: 6100, credit: 1200, cents: 3_100 + month * 217)
        do {
            try ledger.post("donation", month: month, debit: 1200, credit: 4100 + month % 2 * 900, cents: 5_000)
        } catch LedgerError.unknownAccount {
            rejected += 1
        }
    }
    return rejected
}

let ledger = Ledger()
for (number, title) in [(1200, "bank"), (4000, "fees"), (4100, "donations"), (6000, "rent"), (6100, "equipment")] {
    ledger.open(Account(number: number, title: title))
}
for member in 0..<120 {
    ledger.open(MemberAccount(number: 10_000 + member, title: "member \(member)", joinedMonth: member % 12 + 1))
}

do {
    let rejected = try runYear(ledger, members: 120)
    print("entries: \(ledger.journal.count), rejected: \(rejected)")
    for month in [1, 6, 12] {
        let lines = try ledger.statement(10_007, month: month) + ledger.statement(6100, month: month)
        print("month \(month): \(lines.joined(separator: "; "))")
    }
    let balance = ledger.trialBalance()
    for (title, cents) in balance.lines {
        print("  \(title): \(cents / 100)")
    }
    print("sum of all balances: \(balance.sum), debtors: \(ledger.debtors.count)")
    let late = ledger.debtors.filter { $0.joinedMonth > 6 }
    print("late joiners among them: \(late.count), first \(late.first?.title ?? "-")")
} catch {
    print("ledger failed: \(error)")
}
