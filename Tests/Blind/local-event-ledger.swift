import Foundation

enum EventKind {
    case opened(owner: String)
    case deposited(Int)
    case withdrawn(Int)
    case transferred(to: Int, amount: Int)
    case closed
}

final class Event {
    let sequence: Int
    let day: Int
    let account: Int
    let kind: EventKind
    init(sequence: Int, day: Int, account: Int, kind: EventKind) {
        self.sequence = sequence
        self.day = day
        self.account = account
        self.kind = kind
    }
}

final class Snapshot {
    let day: Int
    let position: Int
    let balances: [Int: Int]
    init(day: Int, position: Int, balances: [Int: Int]) {
        self.day = day
        self.position = position
        self.balances = balances
    }
}

enum LedgerError: Error { case noAccount, insufficient }

final class EventStore {
    private var events: [Event] = []
    private var snapshots: [Snapshot] = []

    var count: Int { events.count }

    func append(day: Int, account: Int, _ kind: EventKind) -> Event {
        let e = Event(sequence: events.count, day: day, account: account, kind: kind)
        events.append(e)
        return e
    }

    func take(_ s: Snapshot) { snapshots.append(s) }

    func snapshot(before day: Int) -> Snapshot? {
        var lo = 0, hi = snapshots.count
        while lo < hi {
            let m = (lo + hi) / 2
            if snapshots[m].day <= day { lo = m + 1 } else { hi = m }
        }
        return lo == 0 ? nil : snapshots[lo - 1]
    }

    func replay(from position: Int, through day: Int, _ body: (Event) -> Void) {
        var i = position
        while i < events.count, events[i].day <= day {
            body(events[i])
            i += 1
        }
    }

    func all() -> [Event] { events }
}

final class Projection {
    private(set) var balances: [Int: Int]
    init(_ start: [Int: Int] = [:]) { balances = start }

    func apply(_ e: Event) {
        switch e.kind {
        case .opened: balances[e.account] = 0
        case .deposited(let n): balances[e.account, default: 0] += n
        case .withdrawn(let n): balances[e.account, default: 0] -= n
        case .transferred(let to, let n):
            balances[e.account, default: 0] -= n
            balances[to, default: 0] += n
        case .closed: balances[e.account] = nil
        }
    }
}

final class Bank {
    private let store = EventStore()
    private let live = Projection()
    private var nextAccount = 1

    private func emit(_ day: Int, _ account: Int, _ kind: EventKind) {
        live.apply(store.append(day: day, account: account, kind))
    }

    func open(_ owner: String, day: Int) -> Int {
        let n = nextAccount
        nextAccount += 1
        emit(day, n, .opened(owner: owner))
        return n
    }

    func deposit(_ n: Int, to a: Int, day: Int) throws {
        guard live.balances[a] != nil else { throw LedgerError.noAccount }
        emit(day, a, .deposited(n))
    }

    func withdraw(_ n: Int, from a: Int, day: Int) throws {
        guard let b = live.balances[a] else { throw LedgerError.noAccount }
        guard b >= n else { throw LedgerError.insufficient }
        emit(day, a, .withdrawn(n))
    }

    func transfer(_ n: Int, from a: Int, to b: Int, day: Int) throws {
        guard let have = live.balances[a], live.balances[b] != nil else { throw LedgerError.noAccount }
        guard have >= n else { throw LedgerError.insufficient }
        emit(day, a, .transferred(to: b, amount: n))
    }

    func close(_ a: Int, day: Int) {
        if let rest = live.balances[a] {
            if rest > 0 { emit(day, a, .withdrawn(rest)) }
            emit(day, a, .closed)
        }
    }

    func endOfMonth(_ day: Int) {
        store.take(Snapshot(day: day, position: store.count, balances: live.balances))
    }

    func balance(of a: Int, on day: Int) -> Int? {
        let s = store.snapshot(before: day)
        let p = Projection(s?.balances ?? [:])
        store.replay(from: s?.position ?? 0, through: day) { p.apply($0) }
        return p.balances[a]
    }

    func audit() -> (events: Int, consistent: Bool, inflow: Int, owners: Int) {
        let p = Projection()
        var inflow = 0
        var owners = Set<String>()
        for e in store.all() {
            p.apply(e)
            if case .deposited(let n) = e.kind { inflow += n }
            if case .opened(let o) = e.kind { owners.insert(o) }
        }
        return (store.count, p.balances == live.balances, inflow, owners.count)
    }
}

final class Branch {
    private let bank = Bank()
    private var accounts: [Int] = []
    private var refusals = 0
    private var statements = 0

    func day(_ d: Int) {
        if d % 3 == 0 { accounts.append(bank.open("owner\(d % 70)", day: d)) }
        guard !accounts.isEmpty else { return }
        for _ in 0..<9 {
            let a = accounts.randomElement()!, b = accounts.randomElement()!
            do {
                switch Int.random(in: 0..<4) {
                case 0, 1: try bank.deposit(Int.random(in: 5...200), to: a, day: d)
                case 2: try bank.withdraw(Int.random(in: 5...150), from: a, day: d)
                default: try bank.transfer(Int.random(in: 1...90), from: a, to: b, day: d)
                }
            } catch {
                refusals += 1
            }
        }
        if d % 40 == 39 { bank.close(accounts.removeFirst(), day: d) }
        if d % 30 == 29 { bank.endOfMonth(d) }
        if d % 7 == 0, bank.balance(of: accounts[d % accounts.count], on: Int.random(in: 0...d)) != nil {
            statements += 1
        }
    }

    func finish() {
        let a = bank.audit()
        print("events \(a.events) consistent \(a.consistent) inflow \(a.inflow) owners \(a.owners) refusals \(refusals) statements \(statements)")
    }
}

let branch = Branch()
for d in 0..<500 {
    branch.day(d)
    usleep(4_000)
}
branch.finish()
