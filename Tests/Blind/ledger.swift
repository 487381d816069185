import Foundation

final class LedgerAccount {
    let number: Int
    let name: String
    private(set) var postings: [Posting] = []
    var available: Int
    init(number: Int, name: String, opening: Int) {
        self.number = number
        self.name = name
        self.available = opening
    }

    func append(_ posting: Posting) {
        postings.append(posting)
        available += posting.amount
    }
}

final class Posting {
    let entry: Int
    let amount: Int
    let memo: String
    init(entry: Int, amount: Int, memo: String) {
        self.entry = entry
        self.amount = amount
        self.memo = memo
    }
}

final class Hold {
    let id: Int
    let account: LedgerAccount
    let amount: Int
    init(id: Int, account: LedgerAccount, amount: Int) {
        self.id = id
        self.account = account
        self.amount = amount
    }
}

final class Ledger {
    private let accounts: [LedgerAccount]
    private var holds: [Int: Hold] = [:]
    private var entries = 0

    init(accounts: [LedgerAccount]) { self.accounts = accounts }

    func authorize(from index: Int, amount: Int) -> Int? {
        let account = accounts[index]
        guard account.available >= amount else { return nil }
        let hold = Hold(id: entries + holds.count * 1_000_000, account: account, amount: amount)
        account.available -= amount
        holds[hold.id] = hold
        return hold.id
    }

    func capture(_ id: Int, to index: Int) {
        guard let hold = holds.removeValue(forKey: id) else { return }
        hold.account.available += hold.amount
        entries += 1
        hold.account.append(Posting(entry: entries, amount: -hold.amount, memo: "payment to \(accounts[index].name)"))
        accounts[index].append(Posting(entry: entries, amount: hold.amount, memo: "payment from \(hold.account.name)"))
    }

    func void(_ id: Int) {
        guard let hold = holds.removeValue(forKey: id) else { return }
        hold.account.available += hold.amount
    }

    func trialBalance() -> Int {
        accounts.reduce(0) { sum, account in sum + account.postings.reduce(0) { $0 + $1.amount } }
    }

    var stats: String {
        let total = accounts.reduce(0) { $0 + $1.postings.count }
        return "entries \(entries), postings \(total), holds \(holds.count)"
    }
}

let names = ["cash", "rent", "wages", "sales", "tax", "stock", "travel", "fees"]
let ledger = Ledger(accounts: names.enumerated().map { LedgerAccount(number: 100 + $0.offset, name: $0.element, opening: 50_000) })
var voided = 0
for day in 0..<60 {
    for n in 0..<25 {
        let from = (day + n) % names.count
        let to = (day + n * 3 + 1) % names.count
        guard from != to, let hold = ledger.authorize(from: from, amount: 10 + n) else { continue }
        if n % 6 == 5 {
            ledger.void(hold)
            voided += 1
        } else {
            ledger.capture(hold, to: to)
        }
    }
    Thread.sleep(forTimeInterval: 0.015)
}
print(ledger.stats, "voided \(voided)")
print("trial balance \(ledger.trialBalance())")
