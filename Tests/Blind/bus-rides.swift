import Foundation

enum Fare: Int {
    case adult = 260
    case child = 130
    case senior = 150
}

final class FareService {
    fileprivate var rides: [Ride] = []
    private var tapped: [Int: Ride] = [:]

    func tapOn(_ ride: Ride) {
        tapped[ride.card] = ride
        rides.append(ride)
    }

    func tapOff(card: Int, stop: Int) {
        tapped.removeValue(forKey: card)?.finish(at: stop)
    }

    /// Daily cap: a card pays for at most three rides.
    func charges() -> [Int: Int] {
        var perCard: [Int: [Int]] = [:]
        for ride in rides { perCard[ride.card, default: []].append(ride.price) }
        return perCard.mapValues { prices in prices.sorted(by: >).prefix(3).reduce(0, +) }
    }

    func load(onLine line: String) -> (rides: Int, stops: Int) {
        let mine = rides.filter { $0.line == line }
        return (mine.count, mine.reduce(0) { $0 + $1.length })
    }

    func busiestSegment(line: String, stops: Int) -> (stop: Int, riders: Int) {
        var riders = Array(repeating: 0, count: stops)
        for ride in rides where ride.line == line {
            for stop in ride.boarded..<ride.left { riders[stop] += 1 }
        }
        let best = riders.indices.max { (riders[$0], -$0) < (riders[$1], -$1) }!
        return (best, riders[best])
    }

    var onBoard: Int { tapped.count }
}

final class Ride {
    let card: Int
    let line: String
    let fare: Fare
    let boarded: Int
    private(set) var left: Int

    init(card: Int, line: String, fare: Fare, boarded: Int, service: FareService) {
        self.card = card
        self.line = line
        self.fare = fare
        self.boarded = boarded
        self.left = boarded
        service.tapOn(self)
    }

    func finish(at stop: Int) { left = stop }
    var length: Int { left - boarded }
    var price: Int { fare.rawValue + (length > 8 ? 60 : 0) }
}

let service = FareService()
let lines = ["12", "12X", "N4"]
let fares: [Fare] = [.adult, .adult, .child, .senior]

for hour in 6..<22 {
    for passenger in 0..<90 {
        let seed = hour * 90 + passenger
        let card = 70_000 + seed % 420
        let board = seed % 8
        let ride = Ride(card: card, line: lines[seed % 3], fare: fares[card % 4], boarded: board, service: service)
        service.tapOff(card: ride.card, stop: board + 1 + (seed * 5) % 11)
    }
}

let charges = service.charges()
let takings = charges.values.reduce(0, +)
let capped = charges.values.filter { $0 > 700 }.count
print("cards: \(charges.count), takings: \(takings) ct, high spenders: \(capped), on board: \(service.onBoard)")
for line in lines {
    let load = service.load(onLine: line)
    let peak = service.busiestSegment(line: line, stops: 20)
    print("line \(line): \(load.rides) rides, \(load.stops) stops travelled, peak \(peak.riders) at stop \(peak.stop)")
}
