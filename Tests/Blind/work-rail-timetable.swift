import Foundation

final class Station {
    let code: String
    let platformCount: Int
    var departures: [StopTime] = []

    init(code: String, platformCount: Int) {
        self.code = code
        self.platformCount = platformCount
    }

    func nextDeparture(after minute: Int) -> StopTime? {
        var low = 0
        var high = departures.count
        while low < high {
            let mid = (low + high) / 2
            if departures[mid].departure < minute { low = mid + 1 } else { high = mid }
        }
        return low < departures.count ? departures[low] : nil
    }
}

final class StopTime {
    let station: Station
    unowned let trip: Trip
    let arrival: Int
    let departure: Int
    let index: Int

    init(station: Station, trip: Trip, arrival: Int, departure: Int, index: Int) {
        self.station = station
        self.trip = trip
        self.arrival = arrival
        self.departure = departure
        self.index = index
    }
}

final class Trip {
    let number: Int
    let line: String
    private(set) var stops: [StopTime] = []
    init(number: Int, line: String) {
        self.number = number
        self.line = line
    }
    func call(at station: Station, arrival: Int, dwell: Int) {
        stops.append(StopTime(station: station, trip: self, arrival: arrival,
                              departure: arrival + dwell, index: stops.count))
    }
}

final class Itinerary {
    var legs: [(trip: Int, from: String, to: String)] = []
    var arrival = 0
    var changes: Int { max(0, legs.count - 1) }
}

final class Timetable {
    private var stations: [String: Station] = [:]
    private var trips: [Trip] = []
    private let order: [String]

    init(codes: [String]) {
        order = codes
        for (i, code) in codes.enumerated() {
            stations[code] = Station(code: code, platformCount: 2 + i % 5)
        }
    }

    func station(_ code: String) -> Station { stations[code]! }

    func addService(line: String, route: [String], first: Int, last: Int, every: Int) {
        var start = first
        while start <= last {
            let trip = Trip(number: 1000 + trips.count, line: line)
            var clock = start
            for code in route {
                trip.call(at: station(code), arrival: clock, dwell: 2)
                clock += 9 + (code.utf8.first.map { Int($0) % 5 } ?? 0)
            }
            trips.append(trip)
            start += every
        }
    }

    func index() {
        for trip in trips {
            for stop in trip.stops.dropLast() { stop.station.departures.append(stop) }
        }
        for station in stations.values {
            station.departures.sort { $0.departure < $1.departure }
        }
    }

    func journey(from: String, to: String, at minute: Int) -> Itinerary? {
        var best: [String: Int] = [from: minute]
        var via: [String: (StopTime, String)] = [:]
        var frontier = [from]
        while !frontier.isEmpty {
            frontier.sort { best[$0]! > best[$1]! }
            let code = frontier.removeLast()
            if code == to { break }
            let here = station(code)
            var clock = best[code]!
            var seenLines = Set<String>()
            while let stop = here.nextDeparture(after: clock), stop.departure < best[code]! + 60 {
                clock = stop.departure + 1
                guard seenLines.insert(stop.trip.line).inserted else { continue }
                for later in stop.trip.stops[(stop.index + 1)...] {
                    let target = later.station.code
                    if later.arrival < best[target] ?? Int.max {
                        best[target] = later.arrival
                        via[target] = (stop, code)
                        if !frontier.contains(target) { frontier.append(target) }
                    }
                }
            }
        }
        guard let arrival = best[to] else { return nil }
        let plan = Itinerary()
        plan.arrival = arrival
        var cursor = to
        while cursor != from, let step = via[cursor] {
            plan.legs.insert((step.0.trip.number, step.1, cursor), at: 0)
            cursor = step.1
        }
        return plan
    }

    var tripCount: Int { trips.count }
}

func buildTimetable() -> Timetable {
    let codes = ["ALD", "BRK", "CNT", "DOV", "ELM", "FRN", "GRV", "HIL", "IVY", "JUN"]
    let table = Timetable(codes: codes)
    table.addService(line: "red", route: ["ALD", "BRK", "CNT", "DOV", "ELM"], first: 300, last: 1380, every: 15)
    table.addService(line: "red-back", route: ["ELM", "DOV", "CNT", "BRK", "ALD"], first: 305, last: 1380, every: 15)
    table.addService(line: "blue", route: ["FRN", "CNT", "GRV", "HIL"], first: 310, last: 1400, every: 20)
    table.addService(line: "blue-back", route: ["HIL", "GRV", "CNT", "FRN"], first: 315, last: 1400, every: 20)
    table.addService(line: "loop", route: ["ELM", "IVY", "JUN", "HIL", "ELM"], first: 320, last: 1390, every: 25)
    table.index()
    return table
}

func answerEnquiries(_ table: Timetable, count: Int) {
    let codes = ["ALD", "BRK", "CNT", "DOV", "ELM", "FRN", "GRV", "HIL", "IVY", "JUN"]
    var seed: UInt32 = 77
    func next(_ n: Int) -> Int {
        seed = seed &* 1664525 &+ 1013904223
        return Int(seed >> 8) % n
    }
    var found = 0
    var waits = 0
    var changes = 0
    for enquiry in 0..<count {
        let from = codes[next(codes.count)]
        let to = codes[next(codes.count)]
        if from == to { continue }
        let minute = 300 + next(900)
        if let plan = table.journey(from: from, to: to, at: minute) {
            found += 1
            waits += plan.arrival - minute
            changes += plan.changes
        }
        if enquiry % 10 == 0 { usleep(9_000) }
    }
    print("\(table.tripCount) trips, \(found) journeys, mean \(waits / max(found, 1)) min, changes \(changes)")
}

let timetable = buildTimetable()
answerEnquiries(timetable, count: 1_500)
