import Foundation
import Synchronization

struct Bid: Sendable {
    let bidder: Int
    let amount: Int
}

struct Call: Sendable {
    let price: Int
}

/// One lot under the hammer; the room follows the calls.
final class LotSale: Sendable {
    let lot: Int
    private let room = Mutex<[Int: AsyncStream<Call>.Continuation]>([:])
    private let best = Mutex<Bid?>(nil)

    init(lot: Int) { self.lot = lot }

    func join(_ bidder: Int) -> AsyncStream<Call> {
        AsyncStream { continuation in
            room.withLock { $0[bidder] = continuation }
            continuation.onTermination = { [weak self] _ in
                _ = self?.room.withLock { $0.removeValue(forKey: bidder) }
            }
        }
    }

    func call(_ price: Int) {
        let listeners = room.withLock { Array($0.values) }
        for listener in listeners { listener.yield(Call(price: price)) }
    }

    func offer(_ bid: Bid) {
        best.withLock { current in
            if (bid.amount, bid.bidder) > (current?.amount ?? 0, current?.bidder ?? -1) { current = bid }
        }
    }

    func hammer() {
        let listeners = room.withLock { Array($0.values) }
        for listener in listeners { listener.finish() }
    }

    var winner: Bid? { best.withLock { $0 } }
}

final class Bidder: Sendable {
    let number: Int
    let limit: Int

    init(number: Int, limit: Int) {
        self.number = number
        self.limit = limit
    }

    func follow(_ sale: LotSale, _ calls: AsyncStream<Call>) async -> Int {
        var offers = 0
        for await call in calls where call.price <= limit {
            sale.offer(Bid(bidder: number, amount: call.price))
            offers += 1
        }
        return offers
    }
}

func sell(lot: Int) async throws -> (winner: Bid?, offers: Int) {
    let sale = LotSale(lot: lot)
    var seats: [Task<Int, Never>] = []
    for seat in 0..<4 {
        let bidder = Bidder(number: seat, limit: 120 + (lot * 37 + seat * 53) % 200)
        let calls = sale.join(seat)
        seats.append(Task { await bidder.follow(sale, calls) })
    }
    for step in 0..<8 {
        sale.call(100 + step * 25)
        if step % 4 == 0 { try await Task.sleep(for: .milliseconds(6)) }
    }
    sale.hammer()
    var offers = 0
    for seat in seats { offers += await seat.value }
    return (sale.winner, offers)
}

var proceeds = 0
var offers = 0
for lot in 1...50 {
    let result = try await sell(lot: lot)
    proceeds += result.winner?.amount ?? 0
    offers += result.offers
}
print("sold 50 lots for \(proceeds), \(offers) offers")
