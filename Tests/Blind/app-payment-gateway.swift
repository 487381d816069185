import Foundation

enum Verdict: Sendable { case approved, declined, expired }

final class Payment: @unchecked Sendable {
    let id: Int
    let merchant: String
    let cents: Int
    var trail: [String] = []
    var wrongCodes = 0
    init(id: Int, merchant: String, cents: Int) {
        self.id = id
        self.merchant = merchant
        self.cents = cents
    }
}

final class Authorization: @unchecked Sendable {
    let payment: Payment
    let continuation: CheckedContinuation<Verdict, Never>
    init(payment: Payment, continuation: CheckedContinuation<Verdict, Never>) {
        self.payment = payment
        self.continuation = continuation
    }
}

actor Bank {
    let name: String
    private var pending: [Int: Authorization] = [:]
    private(set) var online = true
    private(set) var answered = 0

    init(name: String) { self.name = name }

    func authorize(_ payment: Payment) async -> Verdict {
        if payment.cents > 90_000 { return .declined }
        payment.trail.append("sent to \(name)")
        return await withCheckedContinuation { continuation in
            pending[payment.id] = Authorization(payment: payment, continuation: continuation)
        }
    }

    func process(limit: Int) {
        for id in pending.keys.sorted().prefix(limit) {
            guard let authorization = pending.removeValue(forKey: id) else { continue }
            answered += 1
            let payment = authorization.payment
            if payment.cents % 50 == 13 {
                payment.trail.append("challenge for \(payment.merchant)")
                challenges[id] = authorization
            } else {
                authorization.continuation.resume(returning: payment.cents % 7 == 0 ? .declined : .approved)
            }
        }
    }

    private var challenges: [Int: Authorization] = [:]
    private var locked: [Int: Authorization] = [:]

    func confirm(_ id: Int, code: Int) {
        guard let authorization = challenges[id] else { return }
        guard code == authorization.payment.cents % 1000 else {
            authorization.payment.wrongCodes += 1
            if authorization.payment.wrongCodes == 3 {
                challenges[id] = nil
                locked[id] = authorization
            }
            return
        }
        challenges[id] = nil
        authorization.continuation.resume(returning: .approved)
    }

    func abandon(_ id: Int) {
        guard let authorization = challenges.removeValue(forKey: id) else { return }
        authorization.continuation.resume(returning: .expired)
    }

    var lockedCount: Int { locked.count }
    var challenged: [Int] { challenges.keys.sorted() }
}

actor Ledger {
    private var totals: [String: Int] = [:]
    private var counts: [String: Int] = [:]
    func book(_ payment: Payment, _ verdict: Verdict) {
        counts["\(verdict)", default: 0] += 1
        if verdict == .approved { totals[payment.merchant, default: 0] += payment.cents }
    }
    func summary() -> String {
        let sums = totals.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value / 100)" }.joined(separator: " ")
        let parts = counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        return "\(parts); \(sums)"
    }
}

final class Gateway: Sendable {
    private let banks: [Bank]
    private let ledger = Ledger()

    init() { banks = ["North", "South", "East"].map { Bank(name: $0) } }

    func submit(_ payment: Payment) {
        let bank = banks[payment.id % banks.count]
        let ledger = self.ledger
        Task {
            let verdict = await bank.authorize(payment)
            payment.trail.append("\(verdict)")
            await ledger.book(payment, verdict)
        }
    }

    func work(_ step: Int) async {
        for bank in banks {
            await bank.process(limit: 6)
            guard step % 4 == 0 else { continue }
            for id in await bank.challenged {
                switch id % 9 {
                case 0, 1, 2: await bank.abandon(id)
                case 4: await bank.confirm(id, code: -1)
                default: await bank.confirm(id, code: 13 + (id * 150) % 1000)
                }
            }
        }
    }

    func report() async {
        var answered = 0
        var locked = 0
        for bank in banks {
            answered += await bank.answered
            locked += await bank.lockedCount
        }
        print("answered \(answered), locked \(locked): \(await ledger.summary())")
    }
}

func businessDay() async {
    let gateway = Gateway()
    for step in 0..<400 {
        let merchant = ["bakery", "florist", "garage", "cinema"][step % 4]
        let cents = step % 5 == 2 ? 13 + (step * 150) % 1000 : 1_000 + step * 210
        gateway.submit(Payment(id: step, merchant: merchant, cents: cents))
        await gateway.work(step)
        try? await Task.sleep(nanoseconds: 4_000_000)
    }
    for step in 0..<20 {
        await gateway.work(step)
        try? await Task.sleep(nanoseconds: 5_000_000)
    }
    await gateway.report()
}

await businessDay()
