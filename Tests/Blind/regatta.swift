import Foundation

/// One lap of one boat, as the timekeepers wrote it down.
final class Lap {
    let boat: Int
    let number: Int
    let seconds: Double
    let splits: [Double]

    init(boat: Int, number: Int, splits: [Double]) {
        self.boat = boat
        self.number = number
        self.splits = splits
        seconds = splits.reduce(0, +)
    }
}

struct Wind {
    private var state: UInt64 = 4_711

    mutating func gust() -> Double {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Double(state % 1_000) / 1_000
    }
}

final class RaceOffice {
    private var laps: [Lap] = []
    private(set) var flagged = 0

    func record(_ lap: Lap) {
        laps.append(lap)
        if lap.splits.contains(where: { $0 > 11.9 }) { flagged += 1 }
    }

    var lapCount: Int { laps.count }

    /// The two slowest laps of each boat do not count.
    func ranking() -> [(boat: Int, time: Double)] {
        let perBoat = Dictionary(grouping: laps, by: \.boat)
        return perBoat.map { boat, own in
            let counted = own.sorted { $0.seconds < $1.seconds }.dropLast(2)
            return (boat, counted.reduce(0) { $0 + $1.seconds })
        }
        .sorted { ($0.time, $0.boat) < ($1.time, $1.boat) }
    }

    func bestSplit(leg: Int) -> Double {
        laps.map { $0.splits[leg] }.min() ?? 0
    }
}

final class Boat {
    let number: Int
    private let pace: Double

    init(number: Int) {
        self.number = number
        pace = 9 + Double(number * 7 % 11) / 10
    }

    func sail(lap: Int, wind: inout Wind) -> Lap {
        let splits = (0..<5).map { leg in pace + wind.gust() * 2 + Double(leg) * 0.05 }
        return Lap(boat: number, number: lap, splits: splits)
    }
}

let office = RaceOffice()
let boats = (1...24).map(Boat.init)
var wind = Wind()
for lap in 1...50 {
    for boat in boats {
        office.record(boat.sail(lap: lap, wind: &wind))
    }
    usleep(11_000)
}
let ranking = office.ranking()
let legs = (0..<5).map { String(format: "%.2f", office.bestSplit(leg: $0)) }.joined(separator: " ")
print("\(office.lapCount) laps, \(office.flagged) flagged, winner boat \(ranking[0].boat), last boat \(ranking[23].boat), best legs \(legs)")
