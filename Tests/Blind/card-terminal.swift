// Card payments: a gateway that sends charges to an acquirer and keeps track of those on their way.

enum PaymentError: Error {
    case declined(code: Int)
    case invalidAmount
}

protocol Identified {
    var reference: String { get }
}

class Charge: Identified {
    let reference: String
    let amount: Int
    let cardTail: String

    init(reference: String, amount: Int, cardTail: String) {
        self.reference = reference
        self.amount = amount
        self.cardTail = cardTail
    }
}

final class PendingCharge: Charge {
    var attempts = 0
    var authorization: String?
}

final class Registry<Item: Identified> {
    private var items: [String: Item] = [:]
    private(set) var peak = 0

    func add(_ item: Item) {
        items[item.reference] = item
        peak = max(peak, items.count)
    }

    func remove(_ reference: String) {
        items[reference] = nil
    }

    func find(_ reference: String) -> Item? {
        items[reference]
    }
}

protocol Acquirer {
    func authorize(amount: Int, cardTail: String, attempt: Int) throws -> String
}

struct FakeBank: Acquirer {
    let limit: Int

    func authorize(amount: Int, cardTail: String, attempt: Int) throws -> String {
        if amount <= 0 { throw PaymentError.invalidAmount }
        if amount > limit { throw PaymentError.declined(code: 51) }
        var hash = 5381
        for byte in cardTail.utf8 {
            hash = (hash &* 33) ^ Int(byte)
        }
        return String(hash & 0xFFFFF, radix: 16) + "-\(attempt)"
    }
}

struct Receipt {
    let reference: String
    let amount: Int
    let code: String
}

final class Gateway {
    let inFlight = Registry<PendingCharge>()
    private let acquirer: Acquirer
    private(set) var settled = 0

    init(acquirer: Acquirer) {
        self.acquirer = acquirer
    }

    func charge(reference: String, amount: Int, cardTail: String) throws -> Receipt {
        let pending = PendingCharge(reference: reference, amount: amount, cardTail: cardTail)
        inFlight.add(pending)
        pending.attempts += 1
        let code = try acquirer.authorize(amount: pending.amount, cardTail: pending.cardTail, attempt: pending.attempts)
        pending.authorization = code
        settled += amount
        inFlight.remove(reference)
        return Receipt(reference: reference, amount: amount, code: code)
    }

    func status(of reference: String) -> String {
        guard let pending = inFlight.find(reference) else { return "done" }
        return pending.authorization == nil ? "waiting" : "authorized"
    }
}

final class Till {
    let number: Int
    private(set) var receipts: [Receipt] = []
    private(set) var refused = 0

    init(number: Int) {
        self.number = number
    }

    func sell(_ cents: Int, cardTail: String, sequence: Int, through gateway: Gateway) {
        let reference = "T\(number)-\(sequence)"
        do {
            let receipt = try gateway.charge(reference: reference, amount: cents, cardTail: cardTail)
            receipts.append(receipt)
        } catch PaymentError.declined {
            refused += 1
        } catch {
            refused += 1
        }
    }
}

let gateway = Gateway(acquirer: FakeBank(limit: 50_000))
let tills = (1...6).map { Till(number: $0) }

for sequence in 1...600 {
    for till in tills {
        let base = (sequence * 7919 + till.number * 104_729) % 45_000 + 150
        let tooMuch = (sequence + till.number) % 12 == 0
        let amount = tooMuch ? base + 50_000 : base
        let tail = String((sequence * 31 + till.number * 17) % 9000 + 1000)
        till.sell(amount, cardTail: tail, sequence: sequence, through: gateway)
    }
}

for till in tills {
    let sum = till.receipts.reduce(0) { $0 + $1.amount }
    print("till \(till.number): \(till.receipts.count) receipts, \(sum / 100) EUR, \(till.refused) refused, last \(till.receipts.last?.code ?? "-")")
}
print("settled in total: \(gateway.settled / 100) EUR, status of T1-1: \(gateway.status(of: "T1-1"))")
