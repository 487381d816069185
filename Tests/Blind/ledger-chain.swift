final class Payment {
    let from: Int
    let to: Int
    let amount: Int
    init(from: Int, to: Int, amount: Int) { self.from = from; self.to = to; self.amount = amount }
}

final class Block {
    let height: Int
    let previous: Block?
    let payments: [Payment]
    let nonce: UInt64
    let hash: UInt64
    init(previous: Block?, payments: [Payment], nonce: UInt64) {
        self.height = (previous?.height ?? -1) + 1
        self.previous = previous
        self.payments = payments
        self.nonce = nonce
        self.hash = Block.digest(previous?.hash ?? 0, payments, nonce)
    }
    static func digest(_ parent: UInt64, _ payments: [Payment], _ nonce: UInt64) -> UInt64 {
        var h: UInt64 = 14695981039346656037 ^ parent
        for p in payments {
            for v in [p.from, p.to, p.amount] { h = (h ^ UInt64(v)) &* 1099511628211 }
        }
        h = (h ^ nonce) &* 1099511628211
        return h ^ (h >> 29)
    }
}

final class Chain {
    private(set) var tip: Block
    private(set) var rejected = 0
    init() { tip = Block(previous: nil, payments: [], nonce: 0) }

    func mine(_ payments: [Payment]) {
        var nonce: UInt64 = 1
        while true {
            let candidate = Block(previous: tip, payments: payments, nonce: nonce)
            if candidate.hash % 8 == 0 { tip = candidate; return }
            rejected += 1
            nonce += 1
        }
    }

    func validate() -> Bool {
        var b: Block? = tip
        while let c = b, let p = c.previous {
            if c.height != p.height + 1 || c.hash != Block.digest(p.hash, c.payments, c.nonce) { return false }
            b = p
        }
        return b?.height == 0
    }

    func balances() -> [Int: Int] {
        var r: [Int: Int] = [:]
        var b: Block? = tip
        while let c = b {
            for p in c.payments { r[p.from, default: 0] -= p.amount; r[p.to, default: 0] += p.amount }
            b = c.previous
        }
        return r
    }
}

let chain = Chain()
var pool: [Payment] = []
for day in 0..<60 {
    for i in 0..<40 {
        pool.append(Payment(from: (day * 3 + i) % 25, to: (day + i * 7) % 25, amount: 1 + (i * day) % 90))
        if pool.count == 6 {
            chain.mine(pool)
            pool.removeAll(keepingCapacity: true)
        }
    }
}
let ok = chain.validate()
let rich = chain.balances().max { ($0.value, $0.key) < ($1.value, $1.key) }
print("height \(chain.tip.height) valid \(ok) rejected \(chain.rejected) richest \(rich?.key ?? -1)")
