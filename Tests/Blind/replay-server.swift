import Foundation

// Race server with lag compensation: laps are simulated at a fixed step and the last 64 states
// stay available to rewind a late overtake request.

struct Car {
    var position: Double
    var speed: Double
    var lane: Int
}

final class RaceState {
    let tick: Int
    let cars: [Car]
    private(set) weak var previous: RaceState?

    init(tick: Int, cars: [Car], previous: RaceState?) {
        self.tick = tick
        self.cars = cars
        self.previous = previous
    }

    var order: [Int] {
        cars.indices.sorted { cars[$0].position > cars[$1].position }
    }

    func gained(by car: Int) -> Double {
        guard let previous else { return 0 }
        return cars[car].position - previous.cars[car].position
    }
}

struct StateRing {
    private var slots: [RaceState?]

    init(capacity: Int) { slots = Array(repeating: nil, count: capacity) }

    mutating func store(_ state: RaceState) { slots[state.tick % slots.count] = state }

    func state(at tick: Int) -> RaceState? {
        guard let state = slots[tick % slots.count], state.tick == tick else { return nil }
        return state
    }
}

struct OvertakeRequest {
    let car: Int
    let seenTick: Int
}

final class Race {
    private var ring = StateRing(capacity: 64)
    private var current: RaceState
    private let length = 540.0
    private(set) var granted = 0
    private(set) var refused = 0
    private(set) var tooLate = 0
    private(set) var topGain = 0.0

    init(cars: Int) {
        let grid = (0..<cars).map { Car(position: Double(cars - $0) * 8, speed: 40, lane: $0 % 3) }
        current = RaceState(tick: 0, cars: grid, previous: nil)
        ring.store(current)
    }

    func step() {
        var cars = current.cars
        for index in cars.indices {
            let curve = sin(cars[index].position / length * 2 * .pi * 4)
            let target = 62 - 24 * abs(curve) + Double((index * 7 + current.tick / 50) % 5)
            cars[index].speed += (target - cars[index].speed) * 0.06
            cars[index].position += cars[index].speed / 50
        }
        let next = RaceState(tick: current.tick + 1, cars: cars, previous: current)
        ring.store(next)
        current = next
        topGain = max(topGain, next.gained(by: next.order[0]))
    }

    /// Decides with the state that the player saw when pressing the button.
    func handle(_ request: OvertakeRequest) {
        guard let seen = ring.state(at: request.seenTick) else {
            tooLate += 1
            return
        }
        let order = seen.order
        guard let rank = order.firstIndex(of: request.car), rank > 0 else {
            refused += 1
            return
        }
        let ahead = seen.cars[order[rank - 1]], own = seen.cars[request.car]
        if ahead.lane != own.lane, ahead.position - own.position < 6 { granted += 1 } else { refused += 1 }
    }

    var tick: Int { current.tick }
    var leader: Int { current.order[0] }
    var laps: Int { Int(current.cars[leader].position / length) }
}

let race = Race(cars: 14)
for _ in 0..<190 {
    for _ in 0..<6 {
        race.step()
        if race.tick % 4 == 0 {
            let lag = (race.tick * 13) % 80
            race.handle(OvertakeRequest(car: race.tick % 14, seenTick: max(0, race.tick - lag)))
        }
    }
    usleep(5_000)
}
print("tick \(race.tick), leader \(race.leader), laps \(race.laps)")
print("granted \(race.granted), refused \(race.refused), too late \(race.tooLate), top gain \(String(format: "%.3f", race.topGain))")
