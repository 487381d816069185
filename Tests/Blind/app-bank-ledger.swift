import Foundation

class LedgerEvent {
    let sequence: Int
    let account: Int
    init(sequence: Int, account: Int) {
        self.sequence = sequence
        self.account = account
    }
    func apply(to state: inout AccountState) {}
}

final class Opened: LedgerEvent {
    let owner: String
    init(sequence: Int, account: Int, owner: String) {
        self.owner = owner
        super.init(sequence: sequence, account: account)
    }
    override func apply(to state: inout AccountState) { state.owner = owner }
}

final class Deposited: LedgerEvent {
    let amount: Int
    init(sequence: Int, account: Int, amount: Int) {
        self.amount = amount
        super.init(sequence: sequence, account: account)
    }
    override func apply(to state: inout AccountState) {
        state.balance += amount
        state.movements += 1
    }
}

final class Withdrawn: LedgerEvent {
    let amount: Int
    init(sequence: Int, account: Int, amount: Int) {
        self.amount = amount
        super.init(sequence: sequence, account: account)
    }
    override func apply(to state: inout AccountState) {
        state.balance -= amount
        state.movements += 1
    }
}

struct AccountState {
    var owner = ""
    var balance = 0
    var movements = 0
    var upTo = -1
}

final class EventStore {
    private var events: [LedgerEvent] = []
    private var positions: [Int: [Int]] = [:]

    var nextSequence: Int { events.count }

    func append(_ event: LedgerEvent) {
        positions[event.account, default: []].append(events.count)
        events.append(event)
    }

    func replay(account: Int, until sequence: Int) -> AccountState {
        var state = AccountState()
        for position in positions[account] ?? [] {
            let event = events[position]
            if event.sequence > sequence { break }
            event.apply(to: &state)
            state.upTo = event.sequence
        }
        return state
    }

    func fold<T>(_ start: T, _ step: (inout T, LedgerEvent) -> Void) -> T {
        var result = start
        for event in events { step(&result, event) }
        return result
    }
}

final class Projection {
    private var states: [Int: AccountState] = [:]
    func handle(_ event: LedgerEvent) {
        var state = states[event.account] ?? AccountState()
        event.apply(to: &state)
        state.upTo = event.sequence
        states[event.account] = state
    }
    func balance(_ account: Int) -> Int { states[account]?.balance ?? 0 }
    func differences(from store: EventStore) -> Int {
        states.filter { store.replay(account: $0.key, until: Int.max).balance != $0.value.balance }.count
    }
    var count: Int { states.count }
}

final class TransferRequest {
    let from: Int
    let to: Int
    let amount: Int
    init(from: Int, to: Int, amount: Int) {
        self.from = from
        self.to = to
        self.amount = amount
    }
}

final class Bank {
    private let store = EventStore()
    private let projection = Projection()
    private var refused = 0
    private var disputes: [String] = []

    private func emit(_ event: LedgerEvent) {
        store.append(event)
        projection.handle(event)
    }

    func open(_ account: Int, owner: String, deposit: Int) {
        emit(Opened(sequence: store.nextSequence, account: account, owner: owner))
        emit(Deposited(sequence: store.nextSequence, account: account, amount: deposit))
    }

    func execute(_ request: TransferRequest) {
        guard request.from != request.to, projection.balance(request.from) >= request.amount else {
            refused += 1
            return
        }
        emit(Withdrawn(sequence: store.nextSequence, account: request.from, amount: request.amount))
        emit(Deposited(sequence: store.nextSequence, account: request.to, amount: request.amount))
    }

    func dispute(account: Int, ago: Int) {
        let then = store.replay(account: account, until: store.nextSequence - ago)
        disputes.append("\(then.owner) had \(then.balance) after \(then.movements) movements")
        if disputes.count > 5 { disputes.removeFirst() }
    }

    func audit() {
        let sums = store.fold((deposits: 0, withdrawals: 0)) { sums, event in
            if let event = event as? Deposited { sums.deposits += event.amount }
            if let event = event as? Withdrawn { sums.withdrawals += event.amount }
        }
        print("events \(store.nextSequence), deposits \(sums.deposits), withdrawals \(sums.withdrawals), refused \(refused)")
        print("accounts \(projection.count), differences \(projection.differences(from: store))")
        disputes.forEach { print("  \($0)") }
    }
}

func business() {
    let bank = Bank()
    for account in 0..<60 { bank.open(account, owner: "client \(account)", deposit: 500 + account * 20) }
    for step in 0..<1300 {
        bank.execute(TransferRequest(from: step * 7 % 60, to: (step * 11 + 5) % 60, amount: 10 + step * 3 % 200))
        if step % 150 == 149 { bank.dispute(account: step % 60, ago: 200) }
        usleep(1300)
    }
    bank.audit()
}

business()
