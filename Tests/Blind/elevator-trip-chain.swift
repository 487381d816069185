struct Xorshift: RandomNumberGenerator {
    private var s: UInt64
    init(seed: UInt64) { s = seed }
    mutating func next() -> UInt64 {
        s ^= s << 13
        s ^= s >> 7
        s ^= s << 17
        return s
    }
}

final class Trip {
    let from: Int
    let to: Int
    let startedAt: Int
    let endedAt: Int
    let previous: Trip?

    init(from: Int, to: Int, startedAt: Int, endedAt: Int, after previous: Trip?) {
        self.from = from
        self.to = to
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.previous = previous
    }

    var idleBefore: Int {
        guard let p = previous else { return 0 }
        return startedAt - p.endedAt
    }

    var reversesDirection: Bool {
        guard let p = previous else { return false }
        return (to > from) != (p.to > p.from)
    }
}

final class Car {
    let label: String
    private(set) var floor = 0
    private(set) var lastTrip: Trip?
    private(set) var trips = 0
    private(set) var idleSeconds = 0
    private(set) var reversals = 0

    init(label: String) { self.label = label }

    var freeAt: Int { lastTrip?.endedAt ?? 0 }

    func serve(call from: Int, to: Int, at now: Int) {
        let start = max(now, freeAt)
        let duration = 3 * abs(floor - from) + 4 + 3 * abs(to - from) + 4
        let trip = Trip(from: from, to: to, startedAt: start,
                        endedAt: start + duration, after: lastTrip)
        idleSeconds += trip.idleBefore
        if trip.reversesDirection { reversals += 1 }
        trips += 1
        floor = to
        lastTrip = trip
    }
}

final class Building {
    let floors: Int
    let cars: [Car]

    init(floors: Int, carCount: Int) {
        self.floors = floors
        cars = (0..<carCount).map { Car(label: "car \(Character(UnicodeScalar(UInt8(65 + $0))))") }
    }

    func dispatch(from: Int, to: Int, at now: Int) {
        let best = cars.min { a, b in
            let ca = max(a.freeAt - now, 0) + 3 * abs(a.floor - from)
            let cb = max(b.freeAt - now, 0) + 3 * abs(b.floor - from)
            return ca < cb
        }
        best?.serve(call: from, to: to, at: now)
    }
}

let tower = Building(floors: 24, carCount: 4)
var rng = Xorshift(seed: 0x1234_5678_9abc)
var clock = 6 * 3600

for _ in 0..<2400 {
    clock += Int.random(in: 1...35, using: &rng)
    let morning = clock < 10 * 3600
    let origin = morning && Bool.random(using: &rng) ? 0 : Int.random(in: 0..<tower.floors, using: &rng)
    var target = Int.random(in: 0..<tower.floors, using: &rng)
    if target == origin { target = (target + 7) % tower.floors }
    tower.dispatch(from: origin, to: target, at: clock)
}

for car in tower.cars {
    print("\(car.label): \(car.trips) trips, \(car.idleSeconds) s idle, \(car.reversals) reversals, now at floor \(car.floor)")
}
print("total trips: \(tower.cars.reduce(0) { $0 + $1.trips })")
