import Foundation
import Dispatch

final class Bid {
    let bidder: String
    let amount: Int
    let at: Int
    init(bidder: String, amount: Int, at: Int) {
        self.bidder = bidder
        self.amount = amount
        self.at = at
    }
}

final class Auction {
    let lot: Int
    let reserve: Int
    private(set) var bids: [Bid] = []
    private var onClose: ((Auction) -> Void)?

    init(lot: Int, reserve: Int, onClose: @escaping (Auction) -> Void) {
        self.lot = lot
        self.reserve = reserve
        self.onClose = onClose
    }

    var highest: Int { bids.last?.amount ?? reserve }

    func offer(_ bid: Bid) -> Bool {
        guard bid.amount > highest else { return false }
        bids.append(bid)
        return true
    }

    func close() {
        onClose?(self)
        onClose = nil
    }
}

final class Sale {
    let lot: Int
    let winner: String
    let price: Int
    let rivals: Int
    init(lot: Int, winner: String, price: Int, rivals: Int) {
        self.lot = lot
        self.winner = winner
        self.price = price
        self.rivals = rivals
    }
}

final class Visitor {
    let name: String
    private let house: AuctionHouse
    private var token: Int?
    private(set) var alerts = 0
    let permanent: Bool

    init(name: String, house: AuctionHouse, permanent: Bool) {
        self.name = name
        self.house = house
        self.permanent = permanent
    }

    func enter() {
        token = house.listen { [weak self] _ in self?.alerts += 1 }
    }

    func exit() {
        if let token { house.mute(token) }
        token = nil
    }

    func bid(lot: Int, extra: Int, at now: Int) {
        house.bid(name, lot: lot, extra: extra, at: now)
    }
}

final class AuctionHouse {
    private let queue = DispatchQueue(label: "house")
    private var open: [Int: Auction] = [:]
    private var listeners: [Int: (Bid) -> Void] = [:]
    private var nextToken = 0
    private var sales: [Sale] = []
    private(set) var unsold = 0

    func announce(lot: Int, reserve: Int, milliseconds: Int) {
        queue.sync {
            let auction = Auction(lot: lot, reserve: reserve) { [unowned self] finished in
                settle(finished)
            }
            open[lot] = auction
            queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { auction.close() }
        }
    }

    private func settle(_ auction: Auction) {
        open[auction.lot] = nil
        guard let last = auction.bids.last else {
            unsold += 1
            return
        }
        let rivals = Set(auction.bids.map { $0.bidder }).count - 1
        sales.append(Sale(lot: auction.lot, winner: last.bidder, price: last.amount, rivals: rivals))
    }

    func listen(_ body: @escaping (Bid) -> Void) -> Int {
        queue.sync {
            nextToken += 1
            listeners[nextToken] = body
            return nextToken
        }
    }

    func mute(_ token: Int) { queue.sync { listeners[token] = nil } }

    func bid(_ name: String, lot: Int, extra: Int, at now: Int) {
        queue.sync {
            guard let auction = open[lot] else { return }
            let bid = Bid(bidder: name, amount: auction.highest + extra, at: now)
            if auction.offer(bid) { listeners.values.forEach { $0(bid) } }
        }
    }

    var openLots: [Int] { queue.sync { open.keys.sorted() } }

    func dearest(_ n: Int) -> [Sale] {
        queue.sync { Array(sales.sorted { $0.price > $1.price }.prefix(n)) }
    }

    func takings() -> (sold: Int, total: Int, contested: Int) {
        queue.sync {
            (sales.count, sales.reduce(0) { $0 + $1.price }, sales.filter { $0.rivals > 1 }.count)
        }
    }
}

func auctionDay() {
    let house = AuctionHouse()
    let regulars = (1...5).map { Visitor(name: "dealer\($0)", house: house, permanent: true) }
    regulars.forEach { $0.enter() }
    var guests: [Visitor] = []
    var guestAlerts = 0
    for minute in 0..<220 {
        if minute % 2 == 0 {
            house.announce(lot: minute, reserve: 50 + minute % 40, milliseconds: 60 + minute % 90)
        }
        if minute % 3 == 0 {
            let guest = Visitor(name: "guest\(minute)", house: house, permanent: false)
            guest.enter()
            guests.append(guest)
        }
        let lots = house.openLots
        for (i, visitor) in (regulars + guests).enumerated() where !lots.isEmpty && (i + minute) % 4 == 0 {
            visitor.bid(lot: lots[(i * 7 + minute) % lots.count], extra: 1 + (i + minute) % 9, at: minute)
        }
        if guests.count > 12 {
            let leaving = guests.removeFirst()
            leaving.exit()
            guestAlerts += leaving.alerts
        }
        usleep(8_000)
    }
    while !house.openLots.isEmpty { usleep(10_000) }
    guests.forEach { $0.exit() }
    regulars.forEach { $0.exit() }
    let takings = house.takings()
    print("sold \(takings.sold) for \(takings.total), contested \(takings.contested), unsold \(house.unsold)")
    for sale in house.dearest(5) { print("lot \(sale.lot) to \(sale.winner) for \(sale.price)") }
    print("alerts \(regulars.map { $0.alerts }) and \(guestAlerts)")
}

auctionDay()
