import Foundation

final class Bid {
    let bidder: Int
    let amount: Int
    init(bidder: Int, amount: Int) {
        self.bidder = bidder
        self.amount = amount
    }
}

final class Lot {
    let title: String
    let reserve: Int
    init(title: String, reserve: Int) {
        self.title = title
        self.reserve = reserve
    }
}

final class AuctionHouse {
    private var accepted: [String: [Bid]] = [:]
    private var refused: [Bid] = []
    private(set) var sold = 0
    private(set) var revenue = 0
    private(set) var refusedReported = 0

    func offer(_ bid: Bid, on lot: Lot) {
        let best = accepted[lot.title]?.last?.amount ?? lot.reserve
        if bid.amount > best {
            accepted[lot.title, default: []].append(bid)
        } else {
            refused.append(bid)
        }
    }

    func close(_ lot: Lot) {
        guard let bids = accepted.removeValue(forKey: lot.title), let winner = bids.last else { return }
        sold += 1
        revenue += winner.amount
    }

    func hourlyReport() -> Int {
        let count = refused.count
        refusedReported += count
        refused.removeAll()
        return count
    }

    var pending: Int { accepted.count + refused.count }
}

let house = AuctionHouse()
var seed: UInt32 = 77
var reports = 0
for hour in 0..<24 {
    let lots = (0..<5).map { Lot(title: "lot \(hour)-\($0)", reserve: 50 + 10 * $0) }
    for bidder in 0..<30 {
        for lot in lots {
            seed = seed &* 1664525 &+ 1013904223
            house.offer(Bid(bidder: bidder, amount: Int(seed >> 20) % 400), on: lot)
        }
    }
    for lot in lots { house.close(lot) }
    if house.hourlyReport() > 0 { reports += 1 }
}
print("sold \(house.sold) revenue \(house.revenue) refused \(house.refusedReported) reports \(reports) pending \(house.pending)")
