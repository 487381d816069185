import Foundation

struct Posting {
    let day: Int
    let cents: Int
}

final class Account {
    let number: Int
    let holder: String
    private(set) var balance = 0
    private(set) var recent: [Posting] = []
    private(set) var interestDays = 0

    init(number: Int, holder: String) {
        self.number = number
        self.holder = holder
    }

    func post(_ cents: Int, day: Int) {
        balance += cents
        recent.append(Posting(day: day, cents: cents))
        if recent.count > 8 { recent.removeFirst() }
    }

    func accrue() { interestDays += balance > 0 ? 1 : 0 }
}

enum BankError: Error {
    case unknownAccount(Int)
    case insufficientFunds(Int)
}

final class Bank {
    private var byNumber: [Int: Account] = [:]
    private var byHolder: [String: [Account]] = [:]
    private var nextNumber = 700_000

    func openAccount(for holder: String, deposit: Int, day: Int) -> Int {
        nextNumber += 1
        let account = Account(number: nextNumber, holder: holder)
        account.post(deposit, day: day)
        byNumber[account.number] = account
        byHolder[holder, default: []].append(account)
        return account.number
    }

    func closeAccount(_ number: Int, day: Int) throws -> Int {
        guard let account = byNumber.removeValue(forKey: number) else { throw BankError.unknownAccount(number) }
        byHolder[account.holder]?.removeAll { $0 === account }
        if byHolder[account.holder]?.isEmpty == true { byHolder[account.holder] = nil }
        return account.balance
    }

    func transfer(_ cents: Int, from: Int, to: Int, day: Int) throws {
        guard let payer = byNumber[from] else { throw BankError.unknownAccount(from) }
        guard let payee = byNumber[to] else { throw BankError.unknownAccount(to) }
        guard payer.balance >= cents else { throw BankError.insufficientFunds(from) }
        payer.post(-cents, day: day)
        payee.post(cents, day: day)
    }

    func accrueAll() {
        for account in byNumber.values { account.accrue() }
    }

    func wealth(of holder: String) -> Int {
        byHolder[holder, default: []].reduce(0) { $0 + $1.balance }
    }

    func trialBalance() -> (accounts: Int, cents: Int, interestDays: Int) {
        byNumber.values.reduce(into: (0, 0, 0)) { total, account in
            total.0 += 1
            total.1 += account.balance
            total.2 += account.interestDays
        }
    }
}

struct Branch {
    let bank: Bank
    var numbers: [Int] = []
    var refused = 0
    var paidOut = 0
    var statements = 0

    mutating func businessDay(_ day: Int) {
        for customer in 0..<5 {
            let serial = day * 5 + customer
            numbers.append(bank.openAccount(for: "holder \(serial % 310)", deposit: 10_000 + serial * 7, day: day))
        }
        for turn in 0..<20 {
            let from = numbers[(day * 131 + turn * 17) % numbers.count]
            let to = numbers[(day * 53 + turn * 29 + 1) % numbers.count]
            do {
                try bank.transfer(500 + turn * 40, from: from, to: to, day: day)
            } catch {
                refused += 1
            }
        }
        if let cents = try? bank.closeAccount(numbers.remove(at: (day * 37) % numbers.count), day: day) {
            paidOut += cents
        }
        for request in 0..<6 {
            statements += bank.wealth(of: "holder \((day * 11 + request * 47) % 310)") > 20_000 ? 1 : 0
        }
        if day % 10 == 9 { bank.accrueAll() }
    }
}

let bank = Bank()
var branch = Branch(bank: bank)
for day in 0..<240 {
    branch.businessDay(day)
    usleep(2500)
}
let total = bank.trialBalance()
print("accounts \(total.accounts), cents \(total.cents), interest days \(total.interestDays)")
print("refused \(branch.refused), paid out \(branch.paidOut), statements \(branch.statements)")
