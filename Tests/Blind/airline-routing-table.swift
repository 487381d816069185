import Foundation

final class Leg {
    let flight: String
    let origin: Int
    let destination: Int
    let minutes: Int
    let fare: Int

    init(flight: String, origin: Int, destination: Int, minutes: Int, fare: Int) {
        self.flight = flight
        self.origin = origin
        self.destination = destination
        self.minutes = minutes
        self.fare = fare
    }
}

final class RoutingTable {
    static let shared = RoutingTable()
    private var departures: [Int: [Leg]] = [:]
    private(set) var legs = 0

    func publish(_ leg: Leg) {
        departures[leg.origin, default: []].append(leg)
        legs += 1
    }

    func legs(from airport: Int) -> [Leg] { departures[airport] ?? [] }
}

struct Itinerary {
    var flights: [String] = []
    var minutes = 0
    var fare = 0
}

struct Planner {
    let table: RoutingTable
    let airports: Int
    let transferMinutes = 45

    func fastest(from origin: Int, to target: Int) -> Itinerary? {
        var best = [Int](repeating: .max, count: airports)
        var via = [Leg?](repeating: nil, count: airports)
        var done = [Bool](repeating: false, count: airports)
        best[origin] = 0
        while true {
            var u = -1
            for a in 0..<airports where !done[a] && best[a] < .max {
                if u < 0 || best[a] < best[u] { u = a }
            }
            guard u >= 0 else { return nil }
            if u == target { break }
            done[u] = true
            for leg in table.legs(from: u) {
                let arrival = best[u] + leg.minutes + (u == origin ? 0 : transferMinutes)
                if arrival < best[leg.destination] {
                    best[leg.destination] = arrival
                    via[leg.destination] = leg
                }
            }
        }
        var itinerary = Itinerary()
        itinerary.minutes = best[target]
        var a = target
        while a != origin, let leg = via[a] {
            itinerary.flights.insert(leg.flight, at: 0)
            itinerary.fare += leg.fare
            a = leg.origin
        }
        return itinerary
    }
}

let codes: [String] = (0..<60).map { i in
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    return String([letters[(i * 7) % 26], letters[(i * 3 + 5) % 26], letters[(i * 11 + i / 26) % 26]])
}

var seed: UInt32 = 77
func rnd(_ n: Int) -> Int {
    seed = seed &* 1103515245 &+ 12345
    return Int(seed >> 16) % n
}

// Seasonal timetable files arrive one after the other.
for season in 0..<6 {
    for n in 0..<250 {
        let origin = rnd(60)
        var destination = rnd(60)
        if destination == origin { destination = (origin + 1) % 60 }
        let distance = abs(origin - destination)
        RoutingTable.shared.publish(Leg(flight: "NX\(season)\(n)",
                                        origin: origin,
                                        destination: destination,
                                        minutes: 40 + distance * 9 + rnd(30),
                                        fare: 35 + distance * 6 + rnd(80)))
    }
}

print("legs published: \(RoutingTable.shared.legs)")
let planner = Planner(table: .shared, airports: 60)
var reachable = 0
var minutes = 0
for origin in stride(from: 0, to: 60, by: 4) {
    for target in 0..<60 where target != origin {
        if let itinerary = planner.fastest(from: origin, to: target) {
            reachable += 1
            minutes += itinerary.minutes
        }
    }
}
print("connections: \(reachable), mean duration \(minutes / reachable) min")
for (a, b) in [(0, 59), (12, 47), (33, 2)] {
    if let it = planner.fastest(from: a, to: b) {
        print("\(codes[a])-\(codes[b]): \(it.flights.joined(separator: ", ")), \(it.minutes) min, \(it.fare) EUR")
    }
}
