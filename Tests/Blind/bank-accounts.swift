import Foundation

final class Owner {
    let name: String
    init(name: String) { self.name = name }
}

final class Account {
    let number: Int
    let owner: Owner
    private(set) var balance: Int
    private(set) var moves = 0
    init(number: Int, owner: Owner, balance: Int) { self.number = number; self.owner = owner; self.balance = balance }
    func deposit(_ n: Int) { balance += n; moves += 1 }
    func withdraw(_ n: Int) -> Bool {
        guard balance >= n else { return false }
        balance -= n; moves += 1
        return true
    }
}

final class TransferOrder {
    let from: Int, to: Int, amount: Int
    var done = false
    init(from: Int, to: Int, amount: Int) { self.from = from; self.to = to; self.amount = amount }
}

final class Bank {
    private var accounts: [Int: Account] = [:]
    private var owners: [String: Owner] = [:]
    private(set) var refused = 0

    func open(for name: String, initial: Int) {
        let owner = owners[name] ?? Owner(name: name)
        owners[name] = owner
        let n = accounts.count + 1
        accounts[n] = Account(number: n, owner: owner, balance: initial)
    }
    func execute(_ o: TransferOrder) {
        guard let a = accounts[o.from], let b = accounts[o.to], a.withdraw(o.amount) else { refused += 1; return }
        b.deposit(o.amount)
        o.done = true
    }
    func interest() { for a in accounts.values where a.balance > 1000 { a.deposit(a.balance / 500) } }
    var count: Int { accounts.count }
    var total: Int { accounts.values.reduce(0) { $0 + $1.balance } }
}

var state: UInt32 = 99
func pick(_ n: Int) -> Int { state = state &* 1664525 &+ 1013904223; return Int(state >> 9) % n + 1 }

let bank = Bank()
for month in 1...24 {
    for i in 0..<50 { bank.open(for: "customer number \((month * 50 + i) * 7 % 800)", initial: 500 + pick(1000)) }
    for _ in 0..<150 { bank.execute(TransferOrder(from: pick(bank.count), to: pick(bank.count), amount: pick(300))) }
    bank.interest()
}
print("accounts \(bank.count) total \(bank.total) refused \(bank.refused)")
