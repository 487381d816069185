import Foundation

actor Correlator {
    private var pending: [UInt64: CheckedContinuation<Int, Never>] = [:]
    private var early: [UInt64: Int] = [:]
    private var lastID: UInt64 = 0

    func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    func answer(for id: UInt64) async -> Int {
        if let value = early.removeValue(forKey: id) { return value }
        return await withCheckedContinuation { pending[id] = $0 }
    }

    func reply(to id: UInt64, with value: Int) {
        if let waiter = pending.removeValue(forKey: id) {
            waiter.resume(returning: value)
        } else {
            early[id] = value
        }
    }
}

actor Desk {
    private let correlator: Correlator
    private var open: [UInt64: PriceInquiry] = [:]
    private var prices: [String: Int] = [:]
    private var expired: [String] = []

    init(correlator: Correlator) { self.correlator = correlator }

    func ask(article: String, round: Int) async -> UInt64 {
        let id = await correlator.nextID()
        let inquiry = PriceInquiry(id: id, article: article, round: round)
        open[id] = inquiry
        inquiry.send(over: correlator, reportTo: self)
        return id
    }

    func finished(_ id: UInt64, article: String, price: Int) {
        guard open.removeValue(forKey: id) != nil else { return }
        prices[article] = price
    }

    func expire(before round: Int) {
        for (id, inquiry) in open where inquiry.round < round {
            open[id] = nil
            expired.append(inquiry.article)
        }
    }

    var openCount: Int { open.count }
    var report: String {
        "\(prices.count) prices, sum \(prices.values.reduce(0, +)), expired \(expired.sorted())"
    }
}

final class PriceInquiry: Sendable {
    let id: UInt64
    let article: String
    let round: Int

    init(id: UInt64, article: String, round: Int) {
        self.id = id
        self.article = article
        self.round = round
    }

    func send(over correlator: Correlator, reportTo desk: Desk) {
        Task.detached {
            let cents = await correlator.answer(for: self.id)
            await desk.finished(self.id, article: self.article, price: self.withTax(cents))
        }
    }

    private func withTax(_ cents: Int) -> Int { cents + cents * 19 / 100 }
}

struct Supplier {
    let correlator: Correlator
    let knownUpTo: Int

    func handle(_ id: UInt64) async {
        guard id % 9 != 0 else { return }
        await correlator.reply(to: id, with: 100 + Int(id) * 7 % knownUpTo)
    }
}

let correlator = Correlator()
let desk = Desk(correlator: correlator)
let supplier = Supplier(correlator: correlator, knownUpTo: 900)

for round in 1...6 {
    var sent: [UInt64] = []
    for n in 1...8 { sent.append(await desk.ask(article: "A\(round)-\(n)", round: round)) }
    try await Task.sleep(for: .milliseconds(40))
    for id in sent { await supplier.handle(id) }
    try await Task.sleep(for: .milliseconds(40))
    await desk.expire(before: round)
}
await desk.expire(before: 7)

for round in 7...12 {
    for n in 1...2 {
        let id = await desk.ask(article: "B\(round)-\(n)", round: round)
        await correlator.reply(to: id, with: 250 + n)
    }
    while await desk.openCount > 0 { try await Task.sleep(for: .milliseconds(5)) }
    try await Task.sleep(for: .milliseconds(40))
}
print(await desk.report)
