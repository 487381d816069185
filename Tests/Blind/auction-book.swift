import Foundation

final class Bidder {
    let name: String
    var won = 0
    init(name: String) { self.name = name }
}

final class Bid {
    let bidder: Bidder
    let amount: Int
    init(bidder: Bidder, amount: Int) {
        self.bidder = bidder
        self.amount = amount
    }
}

final class Auction {
    let lot: Int
    let closesAt: Int
    private(set) var bids: [Bid] = []
    init(lot: Int, closesAt: Int) {
        self.lot = lot
        self.closesAt = closesAt
    }

    func place(_ bid: Bid) -> Bool {
        guard bid.amount > (bids.last?.amount ?? 0) else { return false }
        bids.append(bid)
        return true
    }
}

final class StandingOrder {
    let bidder: Bidder
    let maximum: Int
    let category: Int
    init(bidder: Bidder, maximum: Int, category: Int) {
        self.bidder = bidder
        self.maximum = maximum
        self.category = category
    }
}

final class AuctionHouse {
    private var open: [Int: Auction] = [:]
    private var standing: [Int: [StandingOrder]] = [:]
    private var nextLot = 0
    private(set) var revenue = 0
    private(set) var closed = 0

    func list(duration: Int, now: Int) -> Auction {
        let auction = Auction(lot: nextLot, closesAt: now + duration)
        nextLot += 1
        open[auction.lot] = auction
        for order in standing[auction.lot % 12] ?? [] {
            _ = auction.place(Bid(bidder: order.bidder, amount: order.maximum / 2))
        }
        return auction
    }

    func leave(_ order: StandingOrder) { standing[order.category, default: []].append(order) }

    func settle(now: Int) {
        for auction in open.values.filter({ $0.closesAt <= now }) {
            if let best = auction.bids.last {
                best.bidder.won += 1
                revenue += best.amount
            }
            open.removeValue(forKey: auction.lot)
            closed += 1
        }
    }

    var status: String {
        "open \(open.count) bids on them \(open.values.reduce(0) { $0 + $1.bids.count }) standing \(standing.values.reduce(0) { $0 + $1.count })"
    }
}

let bidders = (0..<40).map { Bidder(name: "bidder \($0)") }
let house = AuctionHouse()
for hour in 0..<60 {
    for n in 0..<8 {
        let auction = house.list(duration: n == 7 ? 400 : 1 + n % 4, now: hour)
        for k in 0..<6 { _ = auction.place(Bid(bidder: bidders[(hour * 5 + n * 7 + k) % 40], amount: 100 + k * (n + 3))) }
    }
    if hour % 3 == 0 || hour > 50 {
        house.leave(StandingOrder(bidder: bidders[hour % 40], maximum: 60 + hour, category: hour % 12))
    }
    Thread.sleep(forTimeInterval: 0.016)
    house.settle(now: hour)
}
print("closed \(house.closed) revenue \(house.revenue) winners \(bidders.filter { $0.won > 0 }.count)")
print(house.status)
