import Foundation

protocol BalanceObserver: AnyObject {
    func balanceChanged(_ account: Account)
}

final class ObserverSlot {
    weak var target: (any BalanceObserver)?
    init(_ target: any BalanceObserver) { self.target = target }
}

final class Posting {
    let amount: Int
    let memo: String
    init(amount: Int, memo: String) {
        self.amount = amount
        self.memo = memo
    }
}

final class Account {
    let code: String
    private(set) var postings: [Posting] = []
    private(set) var balance = 0
    private var observers: [ObserverSlot] = []

    init(code: String) { self.code = code }

    func observe(_ observer: any BalanceObserver) {
        if observers.count >= 16 { observers.removeAll { $0.target == nil } }
        observers.append(ObserverSlot(observer))
    }

    func post(_ posting: Posting) {
        postings.append(posting)
        balance += posting.amount
        for slot in observers { slot.target?.balanceChanged(self) }
    }
}

final class TotalCell: BalanceObserver {
    let title: String
    private var parts: [String: Int] = [:]
    private(set) var updates = 0

    init(title: String, accounts: [Account]) {
        self.title = title
        for account in accounts {
            parts[account.code] = account.balance
            account.observe(self)
        }
    }

    func balanceChanged(_ account: Account) {
        parts[account.code] = account.balance
        updates += 1
    }

    var value: Int { parts.values.reduce(0, +) }
}

final class Ledger {
    let accounts: [Account]
    private(set) var statementLines = 0
    let dashboard: [TotalCell]

    init(accountCount: Int) {
        let created = (0..<accountCount).map { Account(code: "4\($0 + 100)") }
        accounts = created
        dashboard = (0..<6).map { group in
            TotalCell(title: "Group \(group)", accounts: created.enumerated().filter { $0.offset % 6 == group }.map(\.element))
        }
    }

    func openView(_ index: Int) -> TotalCell {
        let picked = (0..<4).map { accounts[(index + $0 * 5) % accounts.count] }
        return TotalCell(title: "View \(index)", accounts: picked)
    }

    func journal(_ day: Int) {
        let debit = accounts[day % accounts.count]
        let credit = accounts[(day * 7 + 3) % accounts.count]
        debit.post(Posting(amount: 100 + day, memo: "day \(day)"))
        credit.post(Posting(amount: -(100 + day), memo: "day \(day)"))
    }

    func close() -> Int {
        accounts.reduce(0) { sum, account in
            statementLines += account.postings.count
            return sum + account.postings.reduce(0) { $0 + $1.amount }
        }
    }
}

let ledger = Ledger(accountCount: 24)
var openViews: [TotalCell] = []
var viewUpdates = 0
for day in 0..<600 {
    openViews.append(ledger.openView(day))
    if openViews.count > 5 { viewUpdates += openViews.removeFirst().updates }
    ledger.journal(day)
    usleep(1800)
}
let difference = ledger.close()
print("statement lines \(ledger.statementLines), difference \(difference)")
print("dashboard \(ledger.dashboard.map(\.value).reduce(0, +)), view updates \(viewUpdates)")
