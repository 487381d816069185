import Foundation

// Bank core: double entry bookkeeping. The journal is kept for the whole
// business year, is audited at the end and written to a file.

final class Account {
    let number: Int
    let owner: String
    private(set) var balance: Int
    private(set) var postings = 0
    var frozen = false

    init(number: Int, owner: String, balance: Int) {
        self.number = number
        self.owner = owner
        self.balance = balance
    }

    func post(_ amount: Int) {
        balance += amount
        postings += 1
    }
}

final class JournalEntry {
    enum Kind: String { case transfer, fee, interest, reversal }
    let sequence: Int
    let day: Int
    let kind: Kind
    unowned let debit: Account
    unowned let credit: Account
    let amount: Int

    init(sequence: Int, day: Int, kind: Kind, debit: Account, credit: Account, amount: Int) {
        self.sequence = sequence
        self.day = day
        self.kind = kind
        self.debit = debit
        self.credit = credit
        self.amount = amount
    }
}

enum BankError: Error { case unknownAccount(Int), insufficientFunds(Int), frozen(Int) }

final class Journal {
    private(set) var entries: [JournalEntry] = []

    func append(day: Int, kind: JournalEntry.Kind, debit: Account, credit: Account, amount: Int) -> JournalEntry {
        let entry = JournalEntry(sequence: entries.count + 1, day: day, kind: kind, debit: debit, credit: credit, amount: amount)
        entries.append(entry)
        debit.post(-amount)
        credit.post(amount)
        return entry
    }

    func entries(for account: Account) -> [JournalEntry] {
        entries.filter { $0.debit === account || $0.credit === account }
    }
}

final class PendingTransfer {
    let from: Int, to: Int, amount: Int, due: Int
    init(from: Int, to: Int, amount: Int, due: Int) {
        self.from = from
        self.to = to
        self.amount = amount
        self.due = due
    }
}

final class Bank {
    private var accounts: [Int: Account] = [:]
    private let journal = Journal()
    private let house: Account
    private var pending: [Int: [PendingTransfer]] = [:]
    private(set) var refused: [String: Int] = [:]

    init(capital: Int) {
        house = Account(number: 0, owner: "House", balance: capital)
        accounts[0] = house
    }

    func open(number: Int, owner: String, deposit: Int) {
        accounts[number] = Account(number: number, owner: owner, balance: deposit)
    }

    private func account(_ number: Int) throws -> Account {
        guard let account = accounts[number] else { throw BankError.unknownAccount(number) }
        if account.frozen { throw BankError.frozen(number) }
        return account
    }

    func transfer(from: Int, to: Int, amount: Int, day: Int) throws {
        let source = try account(from), target = try account(to)
        guard source.balance >= amount + 10 else { throw BankError.insufficientFunds(from) }
        _ = journal.append(day: day, kind: .transfer, debit: source, credit: target, amount: amount)
        if amount > 5_000 { _ = journal.append(day: day, kind: .fee, debit: source, credit: house, amount: 10) }
    }

    func schedule(_ transfer: PendingTransfer) { pending[transfer.due, default: []].append(transfer) }

    func close(day: Int) {
        for transfer in pending.removeValue(forKey: day) ?? [] {
            attempt { try self.transfer(from: transfer.from, to: transfer.to, amount: transfer.amount, day: day) }
        }
        if day % 30 == 0 {
            for account in accounts.values.sorted(by: { $0.number < $1.number }) where account !== house && account.balance > 1_000 {
                _ = journal.append(day: day, kind: .interest, debit: house, credit: account, amount: account.balance / 1_000)
            }
        }
    }

    func attempt(_ action: () throws -> Void) {
        do {
            try action()
        } catch BankError.insufficientFunds {
            refused["funds", default: 0] += 1
        } catch BankError.frozen {
            refused["frozen", default: 0] += 1
        } catch {
            refused["other", default: 0] += 1
        }
    }

    func setFrozen(_ number: Int, _ frozen: Bool) { accounts[number]?.frozen = frozen }

    func reverseLargest(of number: Int, day: Int) {
        guard let account = accounts[number] else { return }
        let outgoing = journal.entries(for: account).filter { $0.debit === account && $0.kind == .transfer }
        guard let largest = outgoing.max(by: { $0.amount < $1.amount }), largest.credit.balance >= largest.amount else { return }
        _ = journal.append(day: day, kind: .reversal, debit: largest.credit, credit: account, amount: largest.amount)
    }

    func audit(opening: Int) -> Bool {
        var balances: [Int: Int] = [:]
        for entry in journal.entries {
            balances[entry.debit.number, default: 0] -= entry.amount
            balances[entry.credit.number, default: 0] += entry.amount
        }
        let closing = accounts.values.reduce(0) { $0 + $1.balance }
        return closing == opening && balances.values.reduce(0, +) == 0
    }

    func writeJournal(to url: URL) throws -> Int {
        var text = ""
        for entry in journal.entries {
            text += "\(entry.sequence);\(entry.day);\(entry.kind.rawValue);\(entry.debit.number);\(entry.credit.number);\(entry.amount)\n"
        }
        try text.write(to: url, atomically: true, encoding: .utf8)
        return text.utf8.count
    }

    var entryCount: Int { journal.entries.count }
    func richest() -> String { accounts.values.filter { $0 !== house }.max { ($0.balance, $1.number) < ($1.balance, $0.number) }?.owner ?? "-" }
    func total() -> Int { accounts.values.reduce(0) { $0 + $1.balance } }
}

var seed: UInt32 = 123_456_789
func random(_ bound: Int) -> Int {
    seed ^= seed << 13
    seed ^= seed >> 17
    seed ^= seed << 5
    return Int(seed) % bound
}

let bank = Bank(capital: 50_000_000)
for number in 1...800 { bank.open(number: number, owner: "Customer \(number)", deposit: 20_000 + random(60_000)) }
let opening = bank.total()
for day in 1...360 {
    for _ in 0..<300 {
        let from = 1 + random(800), to = 1 + random(802), amount = 50 + random(6_000)
        if random(8) == 0 {
            bank.schedule(PendingTransfer(from: from, to: 1 + random(800), amount: amount, due: day + 1 + random(20)))
        } else if from != to {
            bank.attempt { try bank.transfer(from: from, to: to, amount: amount, day: day) }
        }
    }
    if day % 9 == 0 { bank.setFrozen(1 + random(800), random(3) > 0) }
    if day % 3 == 0 { bank.reverseLargest(of: 1 + random(800), day: day) }
    bank.close(day: day)
}
let url = FileManager.default.temporaryDirectory.appendingPathComponent("journal-\(ProcessInfo.processInfo.processIdentifier).csv")
let written = try bank.writeJournal(to: url)
try FileManager.default.removeItem(at: url)
print("journal \(bank.entryCount) entries, \(written) bytes, audit \(bank.audit(opening: opening) ? "passed" : "failed")")
print("refused " + bank.refused.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ") + ", richest \(bank.richest())")
