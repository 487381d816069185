enum State {
    case pending
    case committed
    case rolledBack
}

final class Transaction {
    let number: Int
    var state = State.pending

    init(number: Int) {
        self.number = number
    }
}

final class JournalRecord {
    let transaction: Transaction
    let account: Int
    let before: Int
    let after: Int

    init(transaction: Transaction, account: Int, before: Int, after: Int) {
        self.transaction = transaction
        self.account = account
        self.before = before
        self.after = after
    }
}

final class Journal {
    private var records: [JournalRecord] = []
    private(set) var flushed = 0

    func write(_ transaction: Transaction, account: Int, before: Int, after: Int) {
        records.append(JournalRecord(transaction: transaction, account: account, before: before, after: after))
    }

    func undoList(for transaction: Transaction) -> [JournalRecord] {
        var list: [JournalRecord] = []
        for record in records.reversed() {
            if record.transaction === transaction { list.append(record) }
            if list.count == 3 { break }
        }
        return list
    }

    func checkpoint() {
        let length = records.count
        records.removeAll { $0.transaction.state == .committed }
        flushed += length - records.count
    }
}

struct Ledger {
    private var balances: [Int]
    private let journal: Journal
    private var nextNumber = 1
    private(set) var committed = 0
    private(set) var rolledBack = 0

    init(accounts: Int, opening: Int, journal: Journal) {
        balances = Array(repeating: opening, count: accounts)
        self.journal = journal
    }

    mutating func transfer(_ amount: Int, fee: Int, from source: Int, to target: Int) {
        let transaction = Transaction(number: nextNumber)
        nextNumber += 1
        change(source, by: -(amount + fee), in: transaction)
        change(target, by: amount, in: transaction)
        change(0, by: fee, in: transaction)
        if balances[source] < 0 {
            for record in journal.undoList(for: transaction) {
                balances[record.account] = record.before
            }
            transaction.state = .rolledBack
            rolledBack += 1
        } else {
            transaction.state = .committed
            committed += 1
        }
    }

    private mutating func change(_ account: Int, by delta: Int, in transaction: Transaction) {
        let before = balances[account]
        balances[account] = before + delta
        journal.write(transaction, account: account, before: before, after: before + delta)
    }

    var sum: Int { balances.reduce(0, +) }
}

let journal = Journal()
var ledger = Ledger(accounts: 48, opening: 500, journal: journal)
var generator: UInt32 = 7

func draw(_ limit: Int) -> Int {
    generator = generator &* 1103515245 &+ 12345
    return Int(generator >> 16) % limit
}

for step in 1...1500 {
    let source = 1 + draw(47)
    var target = 1 + draw(47)
    if target == source { target = target % 47 + 1 }
    ledger.transfer(20 + draw(300), fee: 1, from: source, to: target)
    if step % 50 == 0 { journal.checkpoint() }
}

print("committed \(ledger.committed), rolled back \(ledger.rolledBack)")
print("records flushed \(journal.flushed), sum of balances \(ledger.sum)")
