import Foundation

enum ChargeState: String { case pending, captured, declined, refunded }

final class Charge {
    let id: Int
    let merchant: String
    let amount: Int
    var state: ChargeState = .pending
    init(id: Int, merchant: String, amount: Int) {
        self.id = id
        self.merchant = merchant
        self.amount = amount
    }
}

final class IdempotencyRecord {
    let key: String
    let charge: Charge
    var expires: Int
    var hits = 0
    init(key: String, charge: Charge, expires: Int) {
        self.key = key
        self.charge = charge
        self.expires = expires
    }
}

final class IdempotencyStore {
    private var records: [String: IdempotencyRecord] = [:]
    private var buckets: [Int: [String]] = [:]
    private let lifetime: Int
    private var swept = 0

    init(lifetime: Int) { self.lifetime = lifetime }

    func find(_ key: String, now: Int) -> IdempotencyRecord? {
        guard let r = records[key] else { return nil }
        refresh(r, now: now)
        return r
    }

    private func refresh(_ r: IdempotencyRecord, now: Int) {
        r.hits += 1
        r.expires = now + lifetime
    }

    func store(_ key: String, _ charge: Charge, now: Int) {
        let r = IdempotencyRecord(key: key, charge: charge, expires: now + lifetime)
        records[key] = r
        buckets[r.expires / 10, default: []].append(key)
    }

    func sweep(now: Int) {
        let limit = now / 10
        while swept < limit {
            for key in buckets.removeValue(forKey: swept) ?? [] {
                guard let r = records[key], r.expires < now else { continue }
                records[key] = nil
            }
            swept += 1
        }
    }
}

final class Merchant {
    let name: String
    private(set) var balance = 0
    private(set) var declined = 0
    init(name: String) { self.name = name }
    func settle(_ c: Charge) {
        switch c.state {
        case .captured: balance += c.amount
        case .refunded: balance -= c.amount
        case .declined: declined += 1
        case .pending: break
        }
    }
}

final class RiskEngine {
    private var recent: [Int] = []
    func accepts(_ amount: Int) -> Bool {
        recent.append(amount)
        if recent.count > 50 { recent.removeFirst() }
        let mean = recent.reduce(0, +) / recent.count
        return amount < mean * 3
    }
}

final class Gateway {
    private let store = IdempotencyStore(lifetime: 60)
    private let risk = RiskEngine()
    private var merchants: [String: Merchant] = [:]
    private var settlement: [Charge] = []
    private var serial = 0
    private(set) var replays = 0
    private(set) var settledBatches = 0

    func charge(key: String, merchant: String, amount: Int, now: Int) -> (Int, ChargeState) {
        if let known = store.find(key, now: now) {
            replays += 1
            return (known.charge.id, known.charge.state)
        }
        serial += 1
        let c = Charge(id: serial, merchant: merchant, amount: amount)
        c.state = risk.accepts(amount) ? .captured : .declined
        store.store(key, c, now: now)
        settlement.append(c)
        return (c.id, c.state)
    }

    func refundLast() {
        if let c = settlement.last(where: { $0.state == .captured }) { c.state = .refunded }
    }

    func tick(_ now: Int) {
        store.sweep(now: now)
        if settlement.count >= 40 { settle() }
    }

    private func settle() {
        for c in settlement {
            let m = merchants[c.merchant] ?? Merchant(name: c.merchant)
            merchants[c.merchant] = m
            m.settle(c)
        }
        settlement.removeAll()
        settledBatches += 1
    }

    func close() -> String {
        settle()
        let lines = merchants.values.sorted { $0.name < $1.name }.map { "\($0.name) \($0.balance) (\($0.declined) declined)" }
        return lines.joined(separator: "\n") + "\ncharges \(serial) replays \(replays) batches \(settledBatches)"
    }
}

final class Traffic {
    private let gateway: Gateway
    private var pendingRetries: [(due: Int, key: String, merchant: String, amount: Int)] = []
    private var counter = 0

    init(_ g: Gateway) { gateway = g }

    func second(_ now: Int) {
        for _ in 0..<4 {
            counter += 1
            let key = "key-\(counter)"
            let merchant = "shop\(counter % 6)"
            let amount = 20 + (counter * 37) % 180 + (counter % 45 == 0 ? 900 : 0)
            _ = gateway.charge(key: key, merchant: merchant, amount: amount, now: now)
            if counter % 9 == 0 {
                pendingRetries.append((now + 12 + counter % 20, key, merchant, amount))
            }
        }
        let due = pendingRetries.filter { $0.due <= now }
        pendingRetries.removeAll { $0.due <= now }
        for r in due {
            _ = gateway.charge(key: r.key, merchant: r.merchant, amount: r.amount, now: now)
        }
        if now % 11 == 0 { gateway.refundLast() }
        gateway.tick(now)
    }
}

func serve() {
    let gateway = Gateway()
    let traffic = Traffic(gateway)
    for now in 0..<600 {
        traffic.second(now)
        usleep(3_500)
    }
    print(gateway.close())
}

serve()
