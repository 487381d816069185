import Foundation

extension Notification.Name {
    static let bidPlaced = Notification.Name("bidPlaced")
    static let auctionEnded = Notification.Name("auctionEnded")
}

final class Auction {
    let number: Int
    let buyNowPrice: Int
    private(set) var price: Int
    private(set) var leader: Int?
    private(set) var isOpen = true
    var roundsLeft: Int

    init(number: Int, start: Int, rounds: Int) {
        self.number = number
        price = start
        buyNowPrice = start * 3
        roundsLeft = rounds
    }

    func bid(_ amount: Int, by bidder: Int) -> Bool {
        guard isOpen, amount > price else { return false }
        price = amount
        leader = bidder
        return true
    }

    func buy(by bidder: Int) {
        price = buyNowPrice
        leader = bidder
        isOpen = false
    }

    func close() { isOpen = false }
}

final class Wallet {
    private(set) var money: Int
    init(_ m: Int) { money = m }
    func pay(_ n: Int) { money -= n }
}

final class Bidder {
    let id: Int
    private let center: NotificationCenter
    private let wallet: Wallet
    private weak var house: House?
    private let auction: Int
    private let limit: Int
    private var tokens: [NSObjectProtocol] = []
    private(set) var bids = 0

    init(id: Int, auction: Int, money: Int, limit: Int, house: House, center: NotificationCenter) {
        self.id = id
        self.auction = auction
        self.limit = limit
        self.house = house
        self.center = center
        wallet = Wallet(money)
    }

    func enter() {
        tokens.append(center.addObserver(forName: .bidPlaced, object: nil, queue: nil) { n in
            guard n.userInfo?["auction"] as? Int == self.auction else { return }
            self.react()
        })
        tokens.append(center.addObserver(forName: .auctionEnded, object: nil, queue: nil) { n in
            guard n.userInfo?["auction"] as? Int == self.auction else { return }
            self.auctionEnded(winner: n.userInfo?["winner"] as? Int)
        })
    }

    private var pending = false
    private func react() { pending = true }

    func think() {
        guard pending || bids == 0, let h = house, let a = h.auction(auction), a.leader != id else { return }
        pending = false
        let next = a.price + 5 + id % 4
        if next > limit {
            giveUp()
        } else if id % 16 == 3 && bids > 1 && a.buyNowPrice < limit * 2 {
            buyNow(a)
        } else if h.place(next, on: a, by: id) {
            bids += 1
        }
    }

    private func giveUp() {
        leaveCenter()
        house?.leave(self)
    }

    private func buyNow(_ a: Auction) {
        wallet.pay(a.buyNowPrice)
        house?.leave(self)
        house?.sold(a, to: id)
    }

    private func auctionEnded(winner: Int?) {
        guard let h = house, h.isPresent(self) else { return }
        if winner == id, let a = h.auction(auction) { wallet.pay(a.price) }
        leaveCenter()
        h.leave(self)
    }

    private func leaveCenter() {
        for t in tokens { center.removeObserver(t) }
        tokens.removeAll()
    }
}

final class House {
    private let center = NotificationCenter()
    private var auctions: [Int: Auction] = [:]
    private var present: [Int: Bidder] = [:]
    private var nextBidder = 0
    private var nextAuction = 0
    private(set) var turnover = 0
    private(set) var direct = 0
    private(set) var unsold = 0

    func auction(_ n: Int) -> Auction? { auctions[n] }
    func isPresent(_ b: Bidder) -> Bool { present[b.id] === b }

    func openAuction() {
        nextAuction += 1
        let a = Auction(number: nextAuction, start: 20 + nextAuction * 7 % 50, rounds: 12 + nextAuction % 9)
        auctions[a.number] = a
        for k in 0..<(2 + nextAuction % 5) {
            nextBidder += 1
            let b = Bidder(id: nextBidder, auction: a.number, money: 1000, limit: a.price + 30 + (k * 41) % 90, house: self, center: center)
            present[b.id] = b
            b.enter()
        }
    }

    func place(_ amount: Int, on a: Auction, by bidder: Int) -> Bool {
        guard a.bid(amount, by: bidder) else { return false }
        center.post(name: .bidPlaced, object: nil, userInfo: ["auction": a.number])
        return true
    }

    func leave(_ b: Bidder) { present[b.id] = nil }

    func sold(_ a: Auction, to bidder: Int) {
        a.buy(by: bidder)
        direct += 1
        end(a)
    }

    private func end(_ a: Auction) {
        a.close()
        if let w = a.leader {
            turnover += a.price
            center.post(name: .auctionEnded, object: nil, userInfo: ["auction": a.number, "winner": w])
        } else {
            unsold += 1
            center.post(name: .auctionEnded, object: nil, userInfo: ["auction": a.number])
        }
        auctions[a.number] = nil
    }

    func round() {
        for b in present.values.sorted(by: { $0.id < $1.id }) where isPresent(b) { b.think() }
        for a in auctions.values.sorted(by: { $0.number < $1.number }) {
            a.roundsLeft -= 1
            if a.roundsLeft == 0 { end(a) }
        }
    }

    func summary() -> String {
        "auctions \(nextAuction) open \(auctions.count) bidders \(nextBidder) present \(present.count) turnover \(turnover) bought directly \(direct) unsold \(unsold)"
    }
}

func market() {
    let house = House()
    for n in 0..<450 {
        if n % 3 == 0 { house.openAuction() }
        house.round()
        usleep(4_500)
    }
    print(house.summary())
}

market()
