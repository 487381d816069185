import Foundation

// Ledger of a payment institution: books transfers, keeps the balances and writes each booking
// to the audit journal.

enum LedgerError: Error { case insufficientFunds, unknownAccount, limitExceeded }

struct Account {
    let iban: String
    var balance: Int
    let dailyLimit: Int
    var usedToday = 0
}

final class AuditRecord {
    let sequence: Int
    let debtor: String
    let creditor: String
    let amount: Int
    let balanceAfter: Int
    let previousHash: UInt64
    let hash: UInt64

    init(sequence: Int, debtor: String, creditor: String, amount: Int, balanceAfter: Int, previousHash: UInt64) {
        self.sequence = sequence
        self.debtor = debtor
        self.creditor = creditor
        self.amount = amount
        self.balanceAfter = balanceAfter
        self.previousHash = previousHash
        var value = previousHash ^ UInt64(sequence)
        for byte in "\(debtor)>\(creditor):\(amount)".utf8 { value = (value ^ UInt64(byte)) &* 1099511628211 }
        hash = value
    }

    var journalLine: String {
        "\(sequence);\(debtor);\(creditor);\(amount);\(balanceAfter);\(String(hash, radix: 16))\n"
    }
}

final class AuditTrail {
    private let handle: FileHandle
    private var records: [AuditRecord] = []
    private var flushed = 0
    private(set) var journalBytes = 0

    init(handle: FileHandle) { self.handle = handle }

    func append(debtor: String, creditor: String, amount: Int, balanceAfter: Int) {
        records.append(AuditRecord(sequence: records.count + 1, debtor: debtor, creditor: creditor, amount: amount,
                                   balanceAfter: balanceAfter, previousHash: records.last?.hash ?? 0))
    }

    /// Writes the bookings since the last call to the journal file.
    func flush() {
        guard flushed < records.count else { return }
        let block = Data(records[flushed...].map(\.journalLine).joined().utf8)
        handle.write(block)
        journalBytes += block.count
        flushed = records.count
    }

    var seal: String { String(records.last?.hash ?? 0, radix: 16) }
}

final class Ledger {
    private var accounts: [String: Account] = [:]
    private let audit: AuditTrail
    private(set) var booked = 0
    private(set) var refused = 0

    init(audit: AuditTrail) { self.audit = audit }

    func open(_ iban: String, balance: Int, dailyLimit: Int) {
        accounts[iban] = Account(iban: iban, balance: balance, dailyLimit: dailyLimit)
    }

    func transfer(from debtor: String, to creditor: String, amount: Int) throws {
        guard var source = accounts[debtor], accounts[creditor] != nil else { throw LedgerError.unknownAccount }
        guard source.balance >= amount else { throw LedgerError.insufficientFunds }
        guard source.usedToday + amount <= source.dailyLimit else { throw LedgerError.limitExceeded }
        source.balance -= amount
        source.usedToday += amount
        accounts[debtor] = source
        accounts[creditor]?.balance += amount
        audit.append(debtor: debtor, creditor: creditor, amount: amount, balanceAfter: source.balance)
        booked += 1
    }

    func attempt(from debtor: String, to creditor: String, amount: Int) {
        do { try transfer(from: debtor, to: creditor, amount: amount) } catch { refused += 1 }
    }

    var total: Int { accounts.values.reduce(0) { $0 + $1.balance } }
}

let journal = FileManager.default.temporaryDirectory
    .appendingPathComponent("journal-\(ProcessInfo.processInfo.processIdentifier).txt")
_ = FileManager.default.createFile(atPath: journal.path, contents: nil)
guard let handle = FileHandle(forWritingAtPath: journal.path) else { fatalError("no journal") }

let audit = AuditTrail(handle: handle)
let ledger = Ledger(audit: audit)
let ibans = (0..<60).map { String(format: "CH%02d00762%010d", 10 + $0, $0 * 7_919) }
for iban in ibans { ledger.open(iban, balance: 5_000_000, dailyLimit: 4_000_000) }

for minute in 0..<130 {
    for slot in 0..<16 {
        let serial = minute * 16 + slot
        ledger.attempt(from: ibans[serial % 60], to: ibans[(serial * 7 + 13) % 60], amount: 100 + serial % 900)
    }
    ledger.attempt(from: ibans[minute % 60], to: ibans[(minute + 1) % 60], amount: 6_000_000)
    audit.flush()
    Thread.sleep(forTimeInterval: 0.006)
}
try handle.close()
try FileManager.default.removeItem(at: journal)
print("booked \(ledger.booked), refused \(ledger.refused), total \(ledger.total)")
print("journal \(audit.journalBytes) bytes, seal \(audit.seal)")
