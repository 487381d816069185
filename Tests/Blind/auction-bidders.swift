import Foundation

struct Lot {
    enum Status { case open, withdrawn, reserveNotMet }
    let number: Int
    let title: String
    let reserve: Int
    let status: Status
}

final class BidderSession {
    let paddle: Int
    let lot: Int
    let limit: Int
    private(set) var lastBid = 0

    init(paddle: Int, lot: Int, limit: Int) {
        self.paddle = paddle
        self.lot = lot
        self.limit = limit
    }

    func answer(to price: Int) -> Int? {
        let step = price < 500 ? 20 : 50
        guard price + step <= limit else { return nil }
        lastBid = price + step
        return lastBid
    }
}

final class FloorRegistry {
    private var sessions: [Int: [BidderSession]] = [:]

    func signOn(_ session: BidderSession) {
        sessions[session.lot, default: []].append(session)
    }

    func signOff(lot: Int) {
        sessions[lot] = nil
    }

    func bidders(for lot: Int) -> [BidderSession] {
        sessions[lot] ?? []
    }
}

struct SaleResult {
    var sold = 0
    var passed = 0
    var withdrawn = 0
    var turnover = 0
    var calls = 0
}

func runSale(_ lots: [Lot], floor: FloorRegistry, interest: (Lot) -> [(paddle: Int, limit: Int)]) -> SaleResult {
    var result = SaleResult()
    for lot in lots {
        for (paddle, limit) in interest(lot) {
            floor.signOn(BidderSession(paddle: paddle, lot: lot.number, limit: limit))
        }

        if lot.status == .withdrawn {
            result.withdrawn += 1
            continue
        }

        var price = lot.reserve / 2
        var leader: Int?
        var active = true
        while active {
            active = false
            for bidder in floor.bidders(for: lot.number) where bidder.paddle != leader {
                result.calls += 1
                if let bid = bidder.answer(to: price) {
                    price = bid
                    leader = bidder.paddle
                    active = true
                }
            }
        }

        if leader != nil && price >= lot.reserve {
            result.sold += 1
            result.turnover += price
        } else {
            result.passed += 1
        }
        floor.signOff(lot: lot.number)
    }
    return result
}

let kinds = ["walnut commode", "oil sketch", "mantel clock", "tea service", "atlas", "violin"]
var lots: [Lot] = []
for n in 1...640 {
    let withdrawn = n % 7 == 2 || n % 31 == 9
    lots.append(Lot(number: n,
                    title: "\(kinds[n % kinds.count]) no. \(n)",
                    reserve: 200 + (n * 37) % 900,
                    status: withdrawn ? .withdrawn : .open))
}

let floor = FloorRegistry()
let result = runSale(lots, floor: floor) { lot in
    (0..<(3 + lot.number % 4)).map { i in
        (paddle: 100 + (lot.number * 13 + i * 29) % 180,
         limit: lot.reserve * (60 + (lot.number * 17 + i * 41) % 90) / 100)
    }
}

print("lots \(lots.count): sold \(result.sold), passed \(result.passed), withdrawn \(result.withdrawn)")
print("turnover \(result.turnover) after \(result.calls) calls")
print("next lot on the floor: \(floor.bidders(for: lots.count + 1).count) bidders")
