import Foundation

struct Lot: Sendable {
    let number: Int
    let reserve: Int
}

final class AuctionHouse: @unchecked Sendable {
    private let mutex = DispatchSemaphore(value: 1)
    private var paddles: [Int: Bidder] = [:]
    private var calls: [Int: AsyncStream<Lot>.Continuation] = [:]
    private var best: [Int: (paddle: Int, amount: Int)] = [:]
    private var answers = 0

    private func locked<T>(_ body: () -> T) -> T {
        mutex.wait()
        defer { mutex.signal() }
        return body()
    }

    func register(_ bidder: Bidder) -> AsyncStream<Lot> {
        AsyncStream { continuation in
            locked {
                paddles[bidder.paddle] = bidder
                calls[bidder.paddle] = continuation
            }
        }
    }

    func depart(_ paddle: Int) {
        let call = locked {
            paddles[paddle] = nil
            return calls.removeValue(forKey: paddle)
        }
        call?.finish()
    }

    func call(_ lot: Lot) {
        let all = locked {
            answers = 0
            return Array(calls.values)
        }
        all.forEach { $0.yield(lot) }
    }

    func bid(_ paddle: Int, _ amount: Int, on lot: Lot) {
        locked {
            answers += 1
            guard amount >= lot.reserve else { return }
            let current = best[lot.number] ?? (0, 0)
            if amount > current.amount || (amount == current.amount && paddle < current.paddle) {
                best[lot.number] = (paddle, amount)
            }
        }
    }

    var waitingForAnswers: Bool { locked { answers < calls.count } }
    var present: Int { locked { paddles.count } }
    var sold: Int { locked { best.count } }
    var turnover: Int { locked { best.values.reduce(0) { $0 + $1.amount } } }
}

final class Bidder: @unchecked Sendable {
    let paddle: Int
    private let budget: Int

    init(paddle: Int, budget: Int) {
        self.paddle = paddle
        self.budget = budget
    }

    func attend(_ house: AuctionHouse, _ lots: AsyncStream<Lot>) async {
        for await lot in lots {
            house.bid(paddle, budget * (lot.number % 5 + 1) / 5, on: lot)
        }
    }
}

let house = AuctionHouse()
let (entrance, door) = AsyncStream.makeStream(of: Bidder.self)
let floor = Task.detached { [house] in
    await withTaskGroup(of: Void.self) { group in
        for await bidder in entrance {
            let lots = house.register(bidder)
            group.addTask { await bidder.attend(house, lots) }
        }
    }
}

func offer(_ range: Range<Int>) async throws {
    for number in range {
        house.call(Lot(number: number, reserve: 40 + number % 60))
        while house.waitingForAnswers { try await Task.sleep(for: .milliseconds(1)) }
    }
}

for paddle in 1...60 { door.yield(Bidder(paddle: paddle, budget: 100 + paddle * 37 % 400)) }
while house.present < 60 { try await Task.sleep(for: .milliseconds(1)) }

try await offer(1..<40)
for paddle in 1...60 where paddle % 12 < 5 { house.depart(paddle) }
try await offer(40..<140)
for pause in 1...12 {
    try await Task.sleep(for: .milliseconds(20))
    try await offer((140 + pause * 2)..<(142 + pause * 2))
}
print("\(house.present) bidders present, \(house.sold) lots sold for \(house.turnover)")
